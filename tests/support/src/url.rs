//! The few things that tests do with a database's URL. Messages never show its password.

use std::net::SocketAddr;

/// The parts of `scheme://user:password@host:port/database?options`.
struct Parts<'a> {
    scheme: &'a str,
    /// With the `@`.
    login: &'a str,
    host: &'a str,
    /// Without the `/`.
    database: &'a str,
    /// With the `?`.
    options: &'a str,
}

fn parts(url: &str) -> Parts<'_> {
    let Some((scheme, rest)) = url.split_once("://") else {
        panic!("not a database URL: it has no ://");
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let (login, host) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let (path, options) = tail.split_at(tail.find('?').unwrap_or(tail.len()));
    let database = path.strip_prefix('/').unwrap_or(path);
    Parts {
        scheme,
        login,
        host,
        database,
        options,
    }
}

/// The same URL for another database of its server.
pub(crate) fn with_database(url: &str, name: &str) -> String {
    let Parts {
        scheme,
        login,
        host,
        options,
        ..
    } = parts(url);
    format!("{scheme}://{login}{host}/{name}{options}")
}

/// The same URL by way of another address.
pub(crate) fn with_address(url: &str, address: SocketAddr) -> String {
    let Parts {
        scheme,
        login,
        database,
        options,
        ..
    } = parts(url);
    format!("{scheme}://{login}{address}/{database}{options}")
}

/// The URL's server, for messages: nothing that is secret.
pub(crate) fn redacted(url: &str) -> String {
    let Parts { scheme, host, .. } = parts(url);
    format!("{scheme}://{host}")
}

/// `host:port` of the server, with the scheme's usual port if it names none.
pub(crate) fn host_and_port(url: &str) -> String {
    let Parts { scheme, host, .. } = parts(url);
    assert!(
        !host.is_empty(),
        "a {scheme} URL without a host: TCP to the server is needed here"
    );
    // The colons of an IPv6 address stand in brackets.
    if host
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.ends_with(']'))
    {
        return host.to_owned();
    }
    let port = match scheme {
        "postgres" | "postgresql" => 5432,
        "mysql" | "mariadb" => 3306,
        "redis" | "rediss" => 6379,
        _ => panic!("a {scheme} URL without a port: name one"),
    };
    format!("{host}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "postgres://me:p@ss@db.example:5433/shop?sslmode=disable";

    #[test]
    fn one_part_is_replaced_and_the_others_stay() {
        assert_eq!(
            with_database(URL, "other"),
            "postgres://me:p@ss@db.example:5433/other?sslmode=disable"
        );
        assert_eq!(
            with_address(URL, "127.0.0.1:9".parse().unwrap()),
            "postgres://me:p@ss@127.0.0.1:9/shop?sslmode=disable"
        );
        assert_eq!(
            with_database("postgres://host", "other"),
            "postgres://host/other"
        );
        assert_eq!(
            with_database("postgres://host?a=/b", "other"),
            "postgres://host/other?a=/b"
        );
    }

    #[test]
    fn a_message_shows_the_server_only() {
        assert_eq!(redacted(URL), "postgres://db.example:5433");
        assert_eq!(redacted("postgres:///shop?password=x"), "postgres://");
    }

    #[test]
    fn the_port_is_the_named_one_or_the_schemes() {
        assert_eq!(host_and_port(URL), "db.example:5433");
        assert_eq!(
            host_and_port("postgres://me@db.example/shop"),
            "db.example:5432"
        );
        assert_eq!(host_and_port("redis://[::1]"), "[::1]:6379");
        assert_eq!(host_and_port("redis://[::1]:7/0"), "[::1]:7");
    }

    #[test]
    #[should_panic(expected = "without a host")]
    fn a_socket_has_no_port() {
        host_and_port("postgres:///shop?host=/run/postgresql");
    }
}
