//! The networks that had too many API keys refused, for as long as an isolate need not ask again.

use super::cache::LIFETIME_MS;
use std::cell::Cell;
use std::net::IpAddr;

/// What an address counts as: an IPv4 address as itself, an IPv6 address as the 64 bits that one
/// customer of a provider has whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(u64);

impl Network {
    /// `None` for what is not one address.
    pub fn of(address: &str) -> Option<Self> {
        let bits = match address.parse().ok()? {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
        };
        Some(Network(bits))
    }

    /// 16 hexadecimal digits, by which the platform counts.
    pub fn name(self) -> String {
        base16ct::lower::encode_string(&self.0.to_be_bytes())
    }
}

/// How many networks are remembered at most.
const PLACES: usize = 256;

/// Each network has one place, which it may lose to another: then the platform is asked again.
#[derive(Debug)]
pub struct LimitedNetworks([Cell<(Network, u64)>; PLACES]);

impl Default for LimitedNetworks {
    fn default() -> Self {
        LimitedNetworks([const { Cell::new((Network(0), 0)) }; PLACES])
    }
}

impl LimitedNetworks {
    pub fn contains(&self, network: Network, now_ms: u64) -> bool {
        self.place(network).is_some_and(|place| {
            let (limited, until_ms) = place.get();
            limited == network && now_ms < until_ms
        })
    }

    pub fn keep(&self, network: Network, now_ms: u64) {
        if let Some(place) = self.place(network) {
            place.set((network, now_ms.saturating_add(LIFETIME_MS)));
        }
    }

    fn place(&self, Network(bits): Network) -> Option<&Cell<(Network, u64)>> {
        self.0.get((bits % PLACES as u64) as usize)
    }
}
