//! Ranges of IP addresses, the values of `--allow-ip`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, Ipv6Net};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A range of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address. IPv4-mapped IPv6 addresses count as IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AddressRange(IpNet);

/// Why a text is not a range of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{given}` is not an address range: write an address such as `203.0.113.9`, or a network such as `10.0.0.0/8` or `2001:db8::/32`"
)]
pub struct AddressRangeError {
    given: String,
}

impl AddressRange {
    /// The unit of rate limits: an IPv4 address, or the /64 network that an IPv6 subscriber gets.
    pub fn of_caller(address: IpAddr) -> Self {
        match IpNet::from(address.to_canonical()) {
            IpNet::V6(v6) => Self(Ipv6Net::new_assert(v6.addr(), 64).trunc().into()),
            v4 => Self(v4),
        }
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

fn parse(text: &str) -> Option<AddressRange> {
    let given: IpNet = if text.contains('/') { text.parse().ok()? } else { text.parse::<IpAddr>().ok()?.into() };
    let canonical = given.addr().to_canonical();
    let bits = if canonical.is_ipv4() == given.addr().is_ipv4() {
        given.prefix_len()
    } else {
        given.prefix_len().checked_sub(96)?
    };
    Some(AddressRange(IpNet::new(canonical, bits).ok()?.trunc()))
}

impl FromStr for AddressRange {
    type Err = AddressRangeError;
    fn from_str(text: &str) -> Result<Self, AddressRangeError> {
        parse(text.trim()).ok_or_else(|| AddressRangeError { given: text.chars().take(80).collect() })
    }
}

impl TryFrom<String> for AddressRange {
    type Error = AddressRangeError;
    fn try_from(text: String) -> Result<Self, AddressRangeError> {
        text.parse()
    }
}

impl From<AddressRange> for String {
    fn from(range: AddressRange) -> String {
        range.to_string()
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_range_holds_its_addresses_and_no_others() {
        let table = [
            ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.1.2.3/8", "10.9.9.9", true),
            ("203.0.113.9", "203.0.113.9", true),
            ("203.0.113.9", "203.0.113.8", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "::1", true),
            ("::/0", "8.8.8.8", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("2001:db8::1/128", "2001:db8::1", true),
            ("192.0.2.0/31", "192.0.2.1", true),
            ("192.0.2.0/31", "192.0.2.2", false),
            ("127.0.0.0/8", "::ffff:127.0.0.1", true),
            ("::ffff:10.0.0.0/104", "10.3.3.3", true),
        ];
        for (range, address, expected) in table {
            let held = range.parse::<AddressRange>().expect(range).contains(address.parse().expect(address));
            assert_eq!(held, expected, "{range} {address}");
        }
    }

    #[test]
    fn a_caller_is_an_address_or_a_subscribers_network() {
        let table = [
            ("203.0.113.9", "203.0.113.9/32"),
            ("2001:db8::1:2:3:4", "2001:db8::/64"),
            ("::ffff:1.2.3.4", "1.2.3.4/32"),
        ];
        for (address, expected) in table {
            assert_eq!(AddressRange::of_caller(address.parse().expect(address)).to_string(), expected);
        }
    }

    #[test]
    fn malformed_ranges_are_refused() {
        for bad in [
            "", "10", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "::/129", "a/8", "10.0.0.0/8/8",
            "::ffff:1.2.3.4/90",
        ] {
            assert!(bad.parse::<AddressRange>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_range_is_read_back_and_holds_its_own_address(address: IpAddr, bits in 0u8..=128) {
            let bits = if address.is_ipv4() { bits % 33 } else { bits };
            if let Ok(range) = format!("{address}/{bits}").parse::<AddressRange>() {
                prop_assert!(range.contains(address));
                prop_assert_eq!(range.to_string().parse::<AddressRange>(), Ok(range));
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String) {
            let _ = text.parse::<AddressRange>();
        }
    }
}
