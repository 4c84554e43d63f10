//! The networks that requests come from.

use std::net::IpAddr;

/// An IPv4 address, or the first 64 bits of an IPv6 address, which a provider gives to one customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network(u64);

impl Network {
    /// The network of an address; `None` for any other text.
    pub fn of(address: &str) -> Option<Self> {
        let bits = match address.parse().ok()? {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
        };
        Some(Network(bits))
    }

    /// 16 hexadecimal digits, the platform's key of a count.
    pub fn name(self) -> String {
        base16ct::lower::encode_string(&self.0.to_be_bytes())
    }
}
