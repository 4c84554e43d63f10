//! wasm-bindgen's command, with only the options that the builds use. The published command takes minutes to compile,
//! because its package also has a test runner, with an HTTP server and a client.

use lexopt::{Arg, Parser, ValueExt as _};
use std::error::Error;
use std::ffi::OsStr;
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

fn main() -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    let mut folder = None;
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Value(wasm) => {
                bindgen.input_path(wasm);
            }
            Arg::Long("out-dir") => folder = Some(arguments.value()?),
            Arg::Long("out-name") => {
                bindgen.out_name(&arguments.value()?.string()?);
            }
            Arg::Long("target") => {
                expect(&arguments.value()?, "web")?;
                bindgen.web(true)?;
            }
            Arg::Long("encode-into") => {
                expect(&arguments.value()?, "always")?;
                bindgen.encode_into(EncodeInto::Always);
            }
            Arg::Long("no-typescript") => {
                bindgen.typescript(false);
            }
            Arg::Long("omit-default-module-path") => {
                bindgen.omit_default_module_path(true);
            }
            Arg::Long("force-enable-abort-handler") => {
                bindgen.force_enable_abort_handler(true);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let folder = folder.ok_or("--out-dir is missing")?;
    bindgen.generate(folder).map_err(|error| format!("{error:?}").into())
}

/// Returns an error if an option's value is not `known`, the only value that the builds use.
fn expect(given: &OsStr, known: &str) -> Result<(), String> {
    if given == known { Ok(()) } else { Err(format!("{given:?} is not known: use {known}")) }
}
