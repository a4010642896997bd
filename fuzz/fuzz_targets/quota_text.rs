//! Any text is a quota that reads back as itself, or a refusal that says what to write instead.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate::Quota;

fuzz_target!(|text: &str| {
    match text.parse::<Quota>() {
        Ok(quota) => {
            assert_eq!(quota.validate(), Ok(()));
            let shown = quota.to_string();
            assert_eq!(shown.parse(), Ok(quota), "shown as {shown:?}");
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(!error.suggestions().is_empty());
            for suggestion in error.suggestions() {
                assert!(suggestion.parse::<Quota>().is_ok(), "{suggestion:?} is no advice");
            }
        }
    }
});
