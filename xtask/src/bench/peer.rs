//! Other agents, and the command that makes each carry out an edit non-interactively.

use std::path::Path;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use docent_tests::ModelServer;
use docent_tests::model_server::{Edit, KEY, Wire};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OtherAgent {
    MiniSweAgent,
    Aider,
}

impl OtherAgent {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::MiniSweAgent => "mini-swe-agent",
            Self::Aider => "aider",
        }
    }

    /// The name of the program, and the requirements file that lists its packages.
    pub(crate) const fn program(self) -> (&'static str, &'static str) {
        match self {
            Self::MiniSweAgent => ("mini", "xtask/peers/mini-swe-agent.txt"),
            Self::Aider => ("aider", "xtask/peers/aider.txt"),
        }
    }

    /// The command that makes the installed program carry out an edit in a clone with this model; `home` is its own
    /// folder.
    pub(crate) fn command(
        self,
        program: &Path,
        clone: &Path,
        home: &Path,
        model: &ModelServer,
        edit: &Edit,
    ) -> Command {
        let mut command = Command::new(program);
        match self {
            Self::MiniSweAgent => {
                command.args(["--yolo", "--exit-immediately", "--output"]).arg(home.join("trajectory.json"));
                command.args(["--task", &edit.prompt()]);
                // Without this the program asks questions at its first start.
                command.env("MSWEA_GLOBAL_CONFIG_DIR", home).env("MSWEA_CONFIGURED", "true");
                command.env("MSWEA_COST_TRACKING", "ignore_errors");
            }
            Self::Aider => {
                command.args(["--edit-format", "diff", "--yes-always", "--no-auto-commits", "--no-check-update"]);
                command.args(["--no-show-model-warnings", "--analytics-disable", "--no-pretty", "--no-gitignore"]);
                command.args(["--message", &edit.prompt(), &edit.path]);
            }
        }
        command.args(["--model", "openai/scripted-1"]).current_dir(clone).env("HOME", home);
        command.env("OPENAI_API_BASE", model.url(Wire::OpenAi)).env("OPENAI_API_KEY", KEY);
        // Both agents fetch the prices of models, which is not what is measured: this proxy refuses the connection at
        // once.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
        command.env("HTTPS_PROXY", "http://127.0.0.1:9").env("NO_PROXY", "127.0.0.1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}
