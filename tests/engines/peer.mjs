// graphile-worker on PostgreSQL, for `cargo xtask bench engine`.
//
//   node peer.mjs URL prepare                     creates its tables
//   node peer.mjs URL create CLIENTS SECONDS      adds jobs, each durable before the next of the same client
//   node peer.mjs URL through CLIENTS SECONDS     adds jobs while another process works on them, until all are done
//   node peer.mjs URL drain JOBS usual|batched    works on jobs that wait already, until all are done
//   node peer.mjs URL pickup JOBS                 one job at a time, for an idle worker
//   node peer.mjs URL fill JOBS                   adds jobs that wait
//   node peer.mjs URL work usual|batched          works until none is left
//
// The database settings ensure durability: `fsync` and `synchronous_commit` are on. Prints one line of JSON.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Pool } from 'pg'
import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker'

const [url, mode, ...rest] = process.argv.slice(2)
const payload = { prompt: 'Replace "alpha" with "beta" in guides/page.md' }
// The default logger would print a line for every job.
const logger = new Logger(() => () => {})

function percentile(values, share) {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}

function pooled(max) {
  const pool = new Pool({ connectionString: url, max })
  pool.on('error', fail)
  pool.on('connect', (client) => client.on('error', fail))
  return pool
}

function fail(error) {
  console.error(error)
  process.exit(1)
}

async function create(clients, seconds) {
  const pool = pooled(clients)
  const utils = await makeWorkerUtils({ pgPool: pool, logger })
  let counting = false
  let jobs = 0
  let stopped = false
  const took = []
  const client = async () => {
    while (!stopped) {
      const began = performance.now()
      await utils.addJob('noop', payload)
      if (counting) {
        jobs += 1
        took.push(performance.now() - began)
      }
    }
  }
  const all = Array.from({ length: clients }, client)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const before = process.cpuUsage()
  const began = performance.now()
  counting = true
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  counting = false
  const took_seconds = (performance.now() - began) / 1000
  const cpu = process.cpuUsage(before)
  stopped = true
  await Promise.all(all)
  await utils.release()
  await pool.end()
  return { jobs, seconds: took_seconds, p50: percentile(took, 0.5), p99: percentile(took, 0.99), cpu: (cpu.user + cpu.system) / 1e6 }
}

async function start(pool, noop, batched) {
  const worker = batched ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}
  return run({
    logger,
    parsedCronItems: [],
    pgPool: pool,
    concurrency: 24,
    noHandleSignals: true,
    taskList: { noop },
    preset: { worker },
  })
}

async function left(pool) {
  const { rows } = await pool.query('select count(*)::int as left from graphile_worker.jobs')
  return rows[0].left
}

async function add(clients, seconds) {
  const pool = pooled(clients)
  const utils = await makeWorkerUtils({ pgPool: pool, logger })
  const until = performance.now() + seconds * 1000
  let jobs = 0
  const client = async () => {
    while (performance.now() < until) {
      await utils.addJob('noop', payload)
      jobs += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  await utils.release()
  await pool.end()
  return jobs
}

async function through(clients, seconds) {
  const pool = pooled(1)
  await pool.query('delete from graphile_worker._private_jobs')
  const worker = fork(fileURLToPath(import.meta.url), [url, 'serve'])
  await once(worker, 'message')
  const began = performance.now()
  const jobs = await add(clients, seconds)
  while ((await left(pool)) > 0) await new Promise((told) => setTimeout(told, 5))
  const took = (performance.now() - began) / 1000
  worker.kill()
  await pool.end()
  return { jobs, seconds: took }
}

// Works until the process is killed.
async function serve() {
  await start(pooled(26), async () => {}, false)
  process.send('ready')
  return new Promise(() => {})
}

async function fill(pool, jobs) {
  await pool.query(
    `select count(*) from (select graphile_worker.add_job('noop', $1::json) from generate_series(1, $2)) as added`,
    [JSON.stringify(payload), jobs],
  )
  return { jobs }
}

async function work(way) {
  const pool = pooled(26)
  const began = Date.now()
  const runner = await start(pool, async () => {}, way === 'batched')
  while ((await left(pool)) > 0) await new Promise((told) => setTimeout(told, 5))
  const ended = Date.now()
  await runner.stop()
  await pool.end()
  return { began, ended }
}

async function drain(jobs, way) {
  const pool = pooled(26)
  await pool.query('delete from graphile_worker._private_jobs')
  await fill(pool, jobs)
  let done = 0
  let resolve
  const all = new Promise((told) => (resolve = told))
  const noop = async () => {
    done += 1
    if (done === jobs) resolve()
  }
  const began = performance.now()
  const runner = await start(pool, noop, way === 'batched')
  await all
  // The database decides whether all jobs are done.
  while ((await left(pool)) > 0) await new Promise((told) => setTimeout(told, 5))
  const seconds = (performance.now() - began) / 1000
  await runner.stop()
  await pool.end()
  return { jobs, seconds }
}

async function pickup(jobs) {
  const pool = pooled(26)
  await pool.query('delete from graphile_worker._private_jobs')
  let begun
  const runner = await start(pool, async () => begun(performance.now()), false)
  const utils = await makeWorkerUtils({ pgPool: pool, logger })
  const took = []
  const after = []
  for (let n = 0; n < jobs + 10; n += 1) {
    const started = new Promise((resolve) => (begun = resolve))
    const asked = performance.now()
    await utils.addJob('noop', payload)
    const accepted = performance.now()
    const at = await started
    if (n >= 10) {
      took.push(at - asked)
      after.push(Math.max(0, at - accepted))
    }
    // Until the worker is idle again.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await runner.stop()
  await utils.release()
  await pool.end()
  return { jobs, asked_p50: percentile(took, 0.5), accepted_p50: percentile(after, 0.5), accepted_p99: percentile(after, 0.99) }
}

async function prepare() {
  await runMigrations({ connectionString: url, logger })
  return {}
}

const modes = {
  prepare,
  create: () => create(Number(rest[0]), Number(rest[1])),
  through: () => through(Number(rest[0]), Number(rest[1])),
  fill: () => fill(pooled(1), Number(rest[0])),
  serve,
  work: () => work(rest[0]),
  drain: () => drain(Number(rest[0]), rest[1]),
  pickup: () => pickup(Number(rest[0])),
}
if (!(mode in modes)) throw new Error(`there is no mode ${mode}`)
const said = await modes[mode]()
process.stdout.write(`\n${JSON.stringify(said)}\n`)
await Promise.race([once(process.stdout, 'drain'), new Promise((resolve) => setTimeout(resolve, 50))])
process.exit(0)
