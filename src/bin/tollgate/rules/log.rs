//! A log as requests that rules can be asked about.

use std::net::IpAddr;
use std::sync::Arc;

use indexmap::IndexSet;
use tollgate::config::Request;

use crate::input::{ABSENT, Reason, Record};

/// Texts, each kept once.
type Texts = IndexSet<Box<str>, ahash::RandomState>;

/// Everything that was read: some 56 bytes a request, and its texts.
#[derive(Debug, Default)]
pub(crate) struct Log {
    texts: Texts,
    events: Vec<Event>,
}

/// One request, by the indices of its texts.
#[derive(Clone, Copy, Debug)]
struct Event {
    time_ns: u64,
    client: Option<u32>,
    user: Option<u32>,
    method: Option<u32>,
    path: Option<u32>,
    bytes: Option<u64>,
}

impl Log {
    /// Keeps a request. A path loses its query, as rules match without it.
    pub(crate) fn take(&mut self, record: &Record<'_>) -> Result<(), Reason> {
        // A key that somebody chose stands in for whom the line does not name.
        let client = record.ip.as_deref().or(record.key.as_deref());
        let path = record.path.as_deref().map(|path| path.split('?').next().unwrap_or(path));
        let user = record.user.as_deref().filter(|user| *user != ABSENT);
        let event = Event {
            time_ns: record.time_ns,
            client: self.intern(client)?,
            user: self.intern(user)?,
            method: self.intern(record.method.as_deref())?,
            path: self.intern(path)?,
            bytes: record.bytes,
        };
        self.events.push(event);
        Ok(())
    }

    fn intern(&mut self, text: Option<&str>) -> Result<Option<u32>, Reason> {
        let Some(text) = text else { return Ok(None) };
        let index = match self.texts.get_index_of(text) {
            Some(index) => index,
            None => self.texts.insert_full(text.into()).0,
        };
        u32::try_from(index).map(Some).map_err(|_| "more different texts than 32 bits count")
    }

    /// By time; requests of one time stay in the order of their lines.
    pub(crate) fn sort(&mut self) {
        self.events.sort_by_key(|event| event.time_ns);
    }

    /// The requests with their times.
    pub(crate) fn calls(self) -> impl Iterator<Item = (u64, Call)> {
        let texts = Arc::new(self.texts);
        self.events.into_iter().map(move |event| (event.time_ns, Call { texts: texts.clone(), event }))
    }
}

/// One request.
#[derive(Debug)]
pub(crate) struct Call {
    texts: Arc<Texts>,
    event: Event,
}

impl Call {
    fn text(&self, index: Option<u32>) -> Option<&str> {
        self.texts.get_index(index? as usize).map(|text| &**text)
    }

    /// The same for the same client.
    pub(crate) fn client_index(&self) -> Option<usize> {
        self.event.client.map(|index| index as usize)
    }
}

impl Request for Call {
    fn path(&self) -> &str {
        self.text(self.event.path).unwrap_or_default()
    }

    fn method(&self) -> &str {
        self.text(self.event.method).unwrap_or_default()
    }

    fn client(&self) -> Option<IpAddr> {
        self.text(self.event.client)?.parse().ok()
    }

    fn user(&self) -> Option<&str> {
        self.text(self.event.user)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.event.bytes.filter(|_| name == "bytes")
    }
}
