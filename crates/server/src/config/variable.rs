//! Validates names of environment variables, given on the command line and in the configuration.

/// Whether this can be the name of an environment variable.
pub(crate) fn is_variable(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_told_from_a_secret() {
        assert!(is_variable("ANTHROPIC_API_KEY") && is_variable("_x1"));
        for bad in ["", "1X", "sk-ant-x", "A B", "Ä", "$X"] {
            assert!(!is_variable(bad), "{bad}");
        }
    }
}
