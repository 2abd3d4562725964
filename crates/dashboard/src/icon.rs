//! The icons of the dashboard: symbols of one file, `assets/icons.svg`, which browsers keep.

use maud::{Markup, Render, html};

use crate::assets;

macro_rules! icons {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// An icon. It says nothing to a screen reader: a word stands beside it, or its control has a label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Icon { $($variant),* }

        impl Icon {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),*];

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

icons! {
    Account = "circle-user", Add = "plus", Again = "rotate-cw", Analytics = "chart-column", Archive = "archive",
    Audit = "scroll-text", Branch = "git-branch", Chat = "message-circle", Choose = "chevrons-up-down", Closed = "circle-minus",
    Conversations = "messages-square", Done = "circle-check",
    Download = "download", Draft = "git-pull-request-draft", Failed = "circle-x", File = "file-text", Filter = "list-filter",
    Gap = "circle-question-mark", Home = "house", Info = "info", Jobs = "list-checks", Keys = "key-round", Leave = "log-out",
    Menu = "menu", Merged = "git-merge", More = "chevron-right", Operators = "users", Outside = "external-link",
    Overview = "layout-dashboard", Pending = "circle", Person = "user", Playground = "flask-conical",
    Projects = "folder-git-2", Pull = "git-pull-request", Running = "loader-circle",
    Search = "search", Searches = "text-search", Server = "server", Settings = "settings", Style = "palette",
    ThumbsDown = "thumbs-down", ThumbsUp = "thumbs-up", Underway = "circle-dot", Waiting = "clock",
    Warning = "triangle-alert", Agent = "bot",
}

impl Render for Icon {
    fn render_to(&self, buffer: &mut String) {
        let symbol = format!("{}#{}", assets::ICONS.path(), self.name());
        html! { svg.icon aria-hidden="true" { use href=(symbol) {} } }.render_to(buffer);
    }
}

/// What a state means to whoever reads it: its colour in the style sheet, and its icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Running,
    Waiting,
    Done,
    Open,
    Draft,
    Merged,
    Failed,
    Closed,
    Archived,
}

impl Tone {
    #[cfg(test)]
    pub(crate) const COLOURED: [&'static str; 6] = ["running", "waiting", "done", "merged", "failed", "closed"];
    pub(crate) const ALL: [Self; 9] = [
        Self::Running,
        Self::Waiting,
        Self::Done,
        Self::Open,
        Self::Draft,
        Self::Merged,
        Self::Failed,
        Self::Closed,
        Self::Archived,
    ];

    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Open => "open",
            Self::Draft => "draft",
            Self::Merged => "merged",
            Self::Failed => "failed",
            Self::Closed => "closed",
            Self::Archived => "archived",
        }
    }

    const fn icon(self) -> Icon {
        match self {
            Self::Running => Icon::Running,
            Self::Waiting => Icon::Waiting,
            Self::Done => Icon::Done,
            Self::Open => Icon::Pull,
            Self::Draft => Icon::Draft,
            Self::Merged => Icon::Merged,
            Self::Failed => Icon::Failed,
            Self::Closed => Icon::Closed,
            Self::Archived => Icon::Archive,
        }
    }
}

/// A state as an icon and a word.
pub(crate) fn badge(tone: Tone, word: &str) -> Markup {
    html! { span class=(format_args!("badge {}", tone.class())) { (tone.icon()) (word) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_each_icon_and_no_other() {
        let file = include_str!("assets/icons.svg");
        for icon in Icon::ALL {
            assert!(file.contains(&format!("<symbol id=\"{}\"", icon.name())), "{icon:?}");
        }
        assert_eq!(file.matches("<symbol ").count(), Icon::ALL.len());
    }
}
