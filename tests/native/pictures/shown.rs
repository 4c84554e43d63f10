//! Tests how the service shows pictures.

use futures_executor::block_on;
use impact_pledge::pledges::picture::{PictureFormat, PictureName};
use impact_pledge::pledges::store::OperatorStore as _;
use support::memory::MemoryStore;
use support::pictures::{jpeg, png};
use support::service::{Answer, TestRequest, TestService, seeded};

fn with_picture(format: PictureFormat, bytes: &[u8]) -> (TestService<MemoryStore>, PictureName) {
    let (service, name) = (seeded(), PictureName::of(bytes, format));
    service.store.bind_pictures();
    block_on(service.store.keep_picture(&name, bytes.to_vec())).unwrap();
    (service, name)
}

fn ask(service: &TestService<MemoryStore>, method: &str, path: &str) -> Answer {
    service.send(&TestRequest::new(method, path, ""))
}

#[test]
fn a_picture_is_shown_to_everyone_for_ever_and_as_nothing_but_a_picture() {
    for (format, media) in [
        (PictureFormat::Png, "image/png"),
        (PictureFormat::Jpg, "image/jpeg"),
        (PictureFormat::Webp, "image/webp"),
    ] {
        let bytes = png(4, 3, &[]); // the name says what it is
        let (service, name) = with_picture(format, &bytes);
        let shown = ask(&service, "GET", &name.path());
        assert_eq!((shown.status, &*shown.text), (200, &*String::from_utf8_lossy(&bytes)));
        for (header, value) in [
            ("content-type", media),
            ("cache-control", "public, max-age=31536000, immutable"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; sandbox"),
            ("content-disposition", "inline; filename=\"picture\""),
            ("etag", &format!("\"{}\"", name.as_str())),
        ] {
            assert_eq!(shown.headers.get(header).map(String::as_str), Some(value), "{header}");
        }
        let head = ask(&service, "HEAD", &name.path());
        assert_eq!((head.status, &*head.text), (200, ""));
        assert_eq!(head.headers, shown.headers);
    }
}

#[test]
fn a_picture_that_the_browser_has_is_not_sent_again() {
    let (service, name) = with_picture(PictureFormat::Jpg, &jpeg(4, 3, &[]));
    let own = format!("\"{}\"", name.as_str());
    for (tags, status) in [
        (own.clone(), 304),
        (format!("W/{own}, \"other\""), 304),
        ("*".to_owned(), 304),
        ("\"other\"".to_owned(), 200),
        (String::new(), 200),
    ] {
        let request = TestRequest::new("GET", &name.path(), "").with_header("if-none-match", &tags);
        let answer = service.send(&request);
        assert_eq!(answer.status, status, "{tags}");
        assert_eq!(answer.text.is_empty(), status == 304);
        assert_eq!(answer.headers["etag"], own);
    }
}

#[test]
fn there_is_nothing_else_at_the_path() {
    let (service, name) = with_picture(PictureFormat::Png, &png(4, 3, &[]));
    let path = name.path();
    let hash = path.strip_suffix(".png").unwrap();
    let other = format!("/pictures/{}.png", "0".repeat(64));
    let many = format!("/pictures/{}", "a".repeat(100_000));
    for unknown in [
        other.as_str(),
        "/pictures",
        "/pictures/",
        hash,
        &format!("{hash}.jpg"), // it is a PNG
        &format!("{hash}.svg"),
        &format!("{hash}.PNG"),
        &hash.to_uppercase().replace("/PICTURES", "/pictures"),
        &format!("{path}/"),
        &format!("{hash}%2epng"),
        "/pictures/..%2fcatalogue%3alive",
        "/pictures/index.json",
        &many,
    ] {
        let answer = ask(&service, "GET", unknown);
        assert_eq!(answer.status, 404, "{unknown}");
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
    for method in ["POST", "PUT", "DELETE"] {
        let answer = ask(&service, method, &path);
        assert_eq!((answer.status, &*answer.headers["allow"]), (405, "GET, HEAD, OPTIONS"));
    }
    assert_eq!(ask(&service, "OPTIONS", &path).status, 204);
    service.store.set_failing(Some("/pictures/"));
    assert_eq!(ask(&service, "GET", &path).status, 503);
    assert_eq!(ask(&seeded(), "GET", &path).status, 404, "no bucket is bound");
}
