//! Whose address is on a list.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};

use crate::config::fields::Fields;

/// Networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Networks(Vec<IpNet>);

impl Networks {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, client: Option<IpAddr>) -> bool {
        // An IPv4 address is one, whichever way it is written.
        client.is_some_and(|addr| self.0.iter().any(|net| net.contains(&addr.to_canonical())))
    }

    /// Networks, or single addresses.
    pub(super) fn read(fields: &mut Fields<'_>, name: &'static str) -> Self {
        let mut networks = Vec::new();
        for (line, text) in fields.texts(name) {
            match network(&text) {
                Ok(network) => networks.push(network),
                Err(message) => fields.wrong(line, message),
            }
        }
        Self(networks)
    }
}

fn network(text: &str) -> Result<IpNet, String> {
    let parsed = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let network: IpNet = parsed.map_err(|_| {
        format!("`{text}` is no network: write an address, or one with a length, as 10.0.0.0/8")
    })?;
    let whole = network.trunc();
    // Who wrote a whole address may have meant it alone, and a list that allows too many limits too few.
    if whole != network {
        return Err(format!("`{text}` is an address within a network: write {whole}, or {}", network.addr()));
    }
    Ok(canonical(network))
}

/// IPv4 networks as such, however they are written, as addresses are compared so.
fn canonical(network: IpNet) -> IpNet {
    let IpNet::V6(mapped) = network else { return network };
    let addr = mapped.addr().to_ipv4_mapped();
    let length = mapped.prefix_len().checked_sub(96);
    let ipv4 = addr.zip(length).and_then(|(addr, length)| Ipv4Net::new(addr, length).ok());
    ipv4.map_or(network, IpNet::V4)
}
