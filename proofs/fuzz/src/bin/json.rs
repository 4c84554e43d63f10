#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| impact_pledge_fuzz::targets::json::run(input));
