//! Opening logs: files or standard input, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;
use zstd::stream::read::Decoder as ZstdDecoder;

/// The name that stands for standard input.
pub(crate) const STDIN: &str = "-";

const READ_BYTES: usize = 256 * 1024;
/// The longest window that `zstd --long=31` can make; the library refuses more than 27 unless told.
const ZSTD_WINDOW_LOG_MAX: u32 = 31;

/// How many bytes there are to read as far as the system knows; none for standard input and pipes.
pub(crate) fn size(path: &Path) -> io::Result<u64> {
    if path == Path::new(STDIN) { Ok(0) } else { Ok(path.metadata()?.len()) }
}

/// The text of a log; compression is told by its first bytes, not by its name.
pub(crate) fn open(path: &Path, progress: &ProgressBar) -> io::Result<Box<dyn BufRead>> {
    let raw: Box<dyn Read> = if path == Path::new(STDIN) {
        Box::new(io::stdin())
    } else {
        Box::new(progress.wrap_read(File::open(path)?))
    };
    decompress(BufReader::with_capacity(READ_BYTES, raw))
}

fn decompress(mut raw: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    let mut magic = Vec::new();
    raw.by_ref().take(4).read_to_end(&mut magic)?;
    let compression = Compression::of(&magic);
    let whole = Cursor::new(magic).chain(raw);
    Ok(match compression {
        Compression::None => Box::new(whole),
        Compression::Gzip => Box::new(BufReader::with_capacity(READ_BYTES, MultiGzDecoder::new(whole))),
        Compression::Zstd => {
            let mut decoder = ZstdDecoder::with_buffer(whole)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(BufReader::with_capacity(READ_BYTES, decoder))
        }
    })
}

enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    fn of(magic: &[u8]) -> Self {
        match magic {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Self::Zstd,
            // A skippable frame, which parallel compressors put first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Self::Zstd,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn text_of(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        decompress(BufReader::with_capacity(1, Cursor::new(bytes)))?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).expect("memory does not fail");
        encoder.finish().expect("memory does not fail")
    }

    fn zstd(text: &str) -> Vec<u8> {
        zstd::encode_all(text.as_bytes(), 3).expect("memory does not fail")
    }

    #[test]
    fn plain_text_of_any_length_comes_through() {
        for text in ["", "a", "abc", "abcd", "abcde\nf"] {
            assert_eq!(text_of(text.into()).expect("plain text"), text);
        }
    }

    #[test]
    fn several_members_are_one_text() {
        assert_eq!(text_of([gzip("a\n"), gzip("b\n")].concat()).expect("gzip"), "a\nb\n");
        assert_eq!(text_of([zstd("a\n"), zstd("b\n")].concat()).expect("zstd"), "a\nb\n");
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9].to_vec();
        assert_eq!(text_of([skippable, zstd("a\n")].concat()).expect("zstd"), "a\n");
    }

    #[test]
    fn whatever_is_cut_off_is_an_error() {
        let text = "a line of a log\n".repeat(50);
        for whole in [gzip(&text), zstd(&text)] {
            assert_eq!(text_of(whole.clone()).expect("the whole"), text);
            for end in 4..whole.len() {
                assert!(text_of(whole[..end].to_vec()).is_err(), "cut at {end} of {}", whole.len());
            }
        }
    }
}
