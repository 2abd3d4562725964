"""A client that openapi-python-client generated from /openapi.json runs a job and asks a question.

    DOCENT_KEY=docent_assistant_… DOCENT_ADMIN_KEY=docent_admin_… python described.py BASE_URL DOMAIN FOLDER

The client is generated in FOLDER. Exits 1 if an expectation was not met.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

base, domain, folder = sys.argv[1:]
client_folder = Path(folder) / "client"
bin_folder = Path(sys.executable).parent
made = subprocess.run(
    [bin_folder / "openapi-python-client", "generate", "--url", f"{base}/openapi.json", "--meta", "none", "--output-path",
     client_folder, "--overwrite", "--fail-on-warning"],
    env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"},
)
assert made.returncode == 0, "the client is generated without a warning"
sys.path.insert(0, folder)

from client import AuthenticatedClient  # noqa: E402
from client.api.assistant import ask, complete_chat  # noqa: E402
from client.api.jobs import create_job, get_job, list_jobs, message_job  # noqa: E402
from client.api.search import search  # noqa: E402
from client.models import (  # noqa: E402
    AgentJob, Completion, CompletionRequest, Error, Instruction, Jobs, NewJob, Question, Search,
)


def client(key):
    return AuthenticatedClient(base_url=base, token=os.environ[key], timeout=60)


def a_job():
    with client("DOCENT_ADMIN_KEY") as admin:
        prompt = 'Replace "widget" with "gadget"'
        created = create_job.sync_detailed(domain, client=admin, body=NewJob(prompt=prompt, as_draft=True))
        assert created.status_code == 201 and isinstance(created.parsed, AgentJob), created
        job = created.parsed
        while job.status == "active":
            job = get_job.sync(domain, job.id, client=admin, wait=30)
        assert job.status == "completed" and job.pr_link, job
        listed = list_jobs.sync(domain, client=admin, limit=1)
        assert isinstance(listed, Jobs) and [one.id for one in listed.jobs] == [job.id], listed
        refused = message_job.sync(domain, "none", client=admin, body=Instruction(prompt=prompt))
        assert isinstance(refused, Error) and "none" in refused.error, refused


def a_question():
    asked = {"fp": "anonymous", "messages": [
        {"role": "user", "parts": [{"type": "text", "text": "How often is a webhook delivery retried?"}]}]}
    with client("DOCENT_KEY") as reader:
        answer = ask.sync_detailed(domain, client=reader, body=Question.from_dict(asked))
        assert answer.status_code == 200 and answer.headers["X-Thread-Id"], answer
        frames = [line.removeprefix("data: ") for line in answer.content.decode().split("\n") if line.startswith("data: {")]
        text = "".join(frame.get("delta", "") for frame in map(json.loads, frames))
        assert "retried five times" in text, text
        body = CompletionRequest.from_dict({"messages": [{"role": "user", "content": "How is a delivery signed?"}]})
        completion = complete_chat.sync(domain, client=reader, body=body)
        assert isinstance(completion, Completion) and "Acme-Signature" in completion.choices[0].message.content, completion
        found = search.sync(domain, client=reader, body=Search(query="webhook retries", page_size=1))
        assert [result.path for result in found] == ["guides/webhooks"], found


for story in (a_job, a_question):
    story()
    print(f"ok     {story.__name__}")
