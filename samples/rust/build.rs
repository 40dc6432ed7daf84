//! Asks pkg-config for libtracehost. Programs get the library's folder as their run path.

use std::process::Command;

fn pkg_config(question: &str) -> String {
    let said = Command::new("pkg-config")
        .args([question, "tracehost"])
        .output();
    match said {
        Ok(said) if said.status.success() => {
            // Blanks have a backslash before them.
            String::from_utf8_lossy(&said.stdout)
                .trim()
                .replace('\\', "")
        }
        _ => panic!("pkg-config does not find tracehost: set PKG_CONFIG_PATH"),
    }
}

fn main() {
    let folder = pkg_config("--variable=libdir");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
}
