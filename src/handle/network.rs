//! The networks that requests come from.

use std::net::IpAddr;

/// What an address counts as: an IPv4 address as itself, an IPv6 address as the 64 bits that one
/// customer of a provider has whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
