//! The reasons why a file makes no page that readers can find.

use serde::{Deserialize, Serialize};

/// Why a file is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SkipReason {
    /// The page itself says that it is hidden from readers.
    Hidden,
    /// The navigation decides which pages are shown, and does not name this one.
    NotInNavigation,
    /// A fragment that other pages include.
    Partial,
    /// Excluded by the configuration or by a rule of the generator.
    Excluded,
    /// Not in any folder that the configuration takes pages from.
    Outside,
    /// Written for those who edit the docs, not for readers.
    ForEditors,
    /// Read as configuration of the site.
    Configuration,
    /// Written in a format that is not supported, here or by this generator.
    Unsupported,
    TooLarge,
    /// The repository lacks its content.
    Absent,
    NotUtf8,
    /// A process ended while it read the file.
    SetAside,
    /// The reader failed on it.
    Failed,
}

impl SkipReason {
    /// The identifier used in machine-readable output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::NotInNavigation => "notInNavigation",
            Self::Partial => "partial",
            Self::Excluded => "excluded",
            Self::Outside => "outside",
            Self::ForEditors => "forEditors",
            Self::Configuration => "configuration",
            Self::Unsupported => "unsupported",
            Self::TooLarge => "tooLarge",
            Self::Absent => "absent",
            Self::NotUtf8 => "notUtf8",
            Self::SetAside => "setAside",
            Self::Failed => "failed",
        }
    }

    /// A short description, as in “3 *hidden*”.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::NotInNavigation => "not in the navigation",
            Self::Partial => "partial",
            Self::Excluded => "excluded by the configuration",
            Self::Outside => "outside of the folders of pages",
            Self::ForEditors => "for those who edit the docs",
            Self::Configuration => "configuration",
            Self::Unsupported => "unsupported",
            Self::TooLarge => "too large",
            Self::Absent => "missing in the repository",
            Self::NotUtf8 => "not UTF-8",
            Self::SetAside => "set aside, because a process ended while it read them",
            Self::Failed => "could not be read, by a fault of Docent",
        }
    }

    /// A description of one file, as a sentence without its beginning (“the file …”).
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Hidden => "says itself that readers are not to find it",
            Self::NotInNavigation => "is not named in the navigation, which decides what readers find",
            Self::Partial => "is a piece that other pages include, by its name or folder",
            Self::Excluded => "is left out by the configuration of the site or a rule of its generator",
            Self::Outside => "is in none of the folders that the site takes pages from",
            Self::ForEditors => "is for those who edit the docs, by its name or folder",
            Self::Configuration => "is read as the table of contents of the site, and is no page",
            Self::Unsupported => "is written in a language that is not read here",
            Self::TooLarge => "is too large to be read",
            Self::Absent => "has no content, since the repository lacks it: `git fsck` there names what is missing",
            Self::NotUtf8 => "is not UTF-8",
            Self::SetAside => {
                "is set aside, because a process ended while it read it; it is read again when it changes, or with \
                 `docent index DOMAIN --retry`"
            }
            Self::Failed => "could not be read, by a fault of Docent; the log has it",
        }
    }

    /// Whether the reason is expected and needs no attention.
    pub const fn is_usual(self) -> bool {
        matches!(self, Self::Partial | Self::ForEditors | Self::Configuration)
    }
}
