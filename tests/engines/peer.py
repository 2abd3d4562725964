"""procrastinate on PostgreSQL, for `cargo xtask bench engine --store postgres`.

  python peer.py URL prepare                    creates its tables
  python peer.py URL create CLIENTS SECONDS     adds jobs, each durable before the next of the same client
  python peer.py URL fill JOBS                  adds jobs that wait
  python peer.py URL work                       works until none is left

The database settings ensure durability: `fsync` and `synchronous_commit` are on. Prints one line of JSON.
"""

import asyncio
import json
import sys
import time

from procrastinate import App, PsycopgConnector

url, mode, *rest = sys.argv[1:]
PROMPT = 'Replace "alpha" with "beta" in guides/page.md'
app = App(connector=PsycopgConnector(conninfo=url, min_size=4, max_size=16))


@app.task(name="noop")
async def noop(prompt):
    pass


async def create(clients, seconds):
    began = time.monotonic() + 1
    end = began + seconds
    took = []

    async def client():
        while (asked := time.monotonic()) < end:
            await noop.defer_async(prompt=PROMPT)
            if asked >= began:
                took.append((time.monotonic() - asked) * 1000)

    await asyncio.gather(*(client() for _ in range(clients)))
    took.sort()
    return {"jobs": len(took), "seconds": seconds, "p50": took[len(took) // 2], "p99": took[len(took) * 99 // 100]}


async def fill(jobs):
    await noop.batch_defer_async(*({"prompt": PROMPT} for _ in range(jobs)))
    return {"jobs": jobs}


async def work():
    began = time.time()
    await app.run_worker_async(concurrency=24, wait=False, install_signal_handlers=False)
    return {"began": int(began * 1000), "ended": int(time.time() * 1000)}


async def main():
    async with app.open_async():
        if mode == "prepare":
            await app.schema_manager.apply_schema_async()
            said = {}
        elif mode == "create":
            said = await create(int(rest[0]), float(rest[1]))
        elif mode == "fill":
            said = await fill(int(rest[0]))
        elif mode == "work":
            said = await work()
        else:
            raise SystemExit(f"there is no mode {mode}")
    print(json.dumps(said))


asyncio.run(main())
