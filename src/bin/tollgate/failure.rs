//! Why the command stops early, and its exit code.

use std::io::{self, Write};
use std::process::ExitCode;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An argument, a file or a log that cannot be used; the text says what, and what to do.
    Input(String),
    /// The output could not be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// Tells the user, and says how to exit.
    pub(crate) fn report(&self) -> ExitCode {
        // If nobody listens to standard error either, the exit code still tells.
        let tell = |message: &str| drop(writeln!(io::stderr(), "tollgate: {message}"));
        match self {
            Self::Input(message) => {
                tell(message.trim_end());
                ExitCode::from(2)
            }
            // The reader has seen enough, as in `tollgate ... | head`.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Output(error) => {
                tell(&format!("cannot write the output: {error}"));
                ExitCode::FAILURE
            }
        }
    }
}
