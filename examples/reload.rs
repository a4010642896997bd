//! A file of rules that is read again when it changes, while requests are checked.
//! `cargo run --features config --example reload`, and then change the file that it names.
//!
//! Watching is not the crate's: this looks at the file's time once a second. `LiveLimits` is what the crate does.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use tollgate::config::{Config, LiveLimits, Request};

struct Call {
    path: &'static str,
}

impl Request for Call {
    fn path(&self) -> &str {
        self.path
    }

    fn method(&self) -> &str {
        "GET"
    }
}

/// A file, and when it was last read.
struct Watched {
    path: PathBuf,
    modified: Option<SystemTime>,
}

impl Watched {
    /// Its rules, if it has changed since they were last asked for.
    fn changed(&mut self) -> Option<Result<Config, Box<dyn Error>>> {
        // An editor may have taken it away for a moment.
        let modified = fs::metadata(&self.path).and_then(|file| file.modified()).ok()?;
        if self.modified.replace(modified) == Some(modified) {
            return None;
        }
        Some(read(&self.path))
    }
}

fn read(path: &Path) -> Result<Config, Box<dyn Error>> {
    Ok(Config::from_named(path, &fs::read_to_string(path)?)?)
}

/// One look at the file, and what it did to the rules.
fn look(file: &mut Watched, live: &LiveLimits<Call>) -> Option<String> {
    Some(match file.changed()? {
        Ok(config) => match live.replace(config) {
            Ok(changes) => format!("{changes:?}"),
            Err(error) => format!("the rules stay: {error}"),
        },
        Err(error) => format!("the rules stay:\n{error}"),
    })
}

fn rules(quota: &str) -> String {
    format!("[[rules]]\nname = \"site\"\nkey = \"all\"\nquota = \"{quota}\"\n")
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("tollgate-rules-{}.toml", std::process::id()));
    fs::write(&path, rules("3/min"))?;
    let mut file = Watched { path: path.clone(), modified: None };
    let live = LiveLimits::new(file.changed().ok_or_else(|| io::Error::other("no file"))??)?;

    thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        // The requests of a real service come from elsewhere, and never wait for the file.
        let requests =
            scope.spawn(|| (0..5).filter(|_| live.load().check(&Call { path: "/" }).is_allowed()).count());
        println!("{} of 5 allowed", requests.join().unwrap_or_default());

        for quota in ["3/fortnight", "300/min"] {
            fs::write(&path, rules(quota))?;
            // What an operator would do by hand; the file's time may not have moved yet.
            file.modified = None;
            if let Some(done) = look(&mut file, &live) {
                println!("{quota}: {done}");
            }
        }
        if std::env::args().any(|arg| arg == "--watch") {
            println!("watching {}", path.display());
            loop {
                thread::sleep(Duration::from_secs(1));
                if let Some(done) = look(&mut file, &live) {
                    println!("{done}");
                }
            }
        }
        Ok(())
    })?;
    fs::remove_file(path)?;
    Ok(())
}
