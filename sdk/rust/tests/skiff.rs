//! The crate on a real skiff, with the client of kube-rs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use serde_json::json;
use skiff_test::{Cluster, FaultCount, Options, Server};

static SERVER: LazyLock<Server> =
    LazyLock::new(|| Server::start(Options { manual_clock: true, ..Options::default() }).expect("skiff starts"));

type Tested = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn a_deployment_is_rolled_out_and_collected() -> Tested {
    let cluster = SERVER.fork().await?;
    let client = cluster.client().await?;
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), "default");
    let web = serde_json::from_value(json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": 3,
            "selector": { "matchLabels": { "app": "web" } },
            "template": { "metadata": { "labels": { "app": "web" } }, "spec": { "containers": [{ "name": "web", "image": "nginx" }] } },
        },
    }))?;
    deployments.create(&PostParams::default(), &web).await?;
    cluster.clock().run_until_idle(Duration::from_secs(3600)).await?;
    assert_eq!(deployments.get("web").await?.status.and_then(|status| status.ready_replicas), Some(3));
    deployments.delete("web", &DeleteParams::foreground()).await?;
    cluster.clock().advance(Duration::from_secs(31)).await?;
    assert!(Api::<Pod>::namespaced(client, "default").list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}

#[tokio::test]
async fn each_test_has_a_cluster_of_its_own() -> Tested {
    let cluster = SERVER.fork().await?;
    let mine: Api<ConfigMap> = Api::namespaced(cluster.client().await?, "default");
    mine.create(&PostParams::default(), &serde_json::from_value(json!({ "metadata": { "name": "mine" } }))?).await?;
    let other = cluster.fork().await?;
    let theirs: Api<ConfigMap> = Api::namespaced(other.client().await?, "default");
    theirs.delete("mine", &DeleteParams::default()).await?;
    assert!(theirs.get_opt("mine").await?.is_none());
    assert!(mine.get_opt("mine").await?.is_some());
    Ok(())
}

#[tokio::test]
async fn time_is_moved_and_not_back() -> Tested {
    let cluster = SERVER.fork().await?;
    let before = cluster.clock().now().await?;
    assert_eq!(cluster.clock().advance(Duration::from_secs(3600)).await?, before + Duration::from_secs(3600));
    assert!(cluster.clock().advance_to(before).await.is_err());
    Ok(())
}

#[tokio::test]
async fn things_go_wrong_on_purpose_and_the_same_again() -> Tested {
    let cluster = SERVER.fork().await?;
    let other = cluster.fork().await?;
    let first = met(&cluster, 7).await?;
    assert!(first.contains(&200) && first.contains(&500), "{first:?}");
    assert_eq!(met(&other, 7).await?, first);
    assert_ne!(met(&other, 8).await?, first);
    assert!(other.report().await?.contains("faults, seed 8:"));
    let added = cluster.faults().add(&["watch drop 5%"]).await?;
    assert_eq!(added.faults[1], FaultCount { fault: "watch drop 5%".into(), met: 0, struck: 0 });
    let refused = cluster.faults().add(&["watch lose 5%"]).await.expect_err("there is no such fault");
    assert!(refused.to_string().contains("is none of drop, expire, reorder, delay"), "{refused}");
    cluster.faults().set(None, &["refuse 500 100% on create by my-operator"]).await?;
    assert_eq!(made(cluster.client().await?, "by-kubes-own").await, None);
    assert_eq!(made(cluster.client_named("my-operator/1.0").await?, "by-name").await, Some(500));
    assert!(cluster.client_named("two\nlines").await.err().expect("it cannot be sent").to_string().contains("cannot be sent"));
    assert!(cluster.faults().clear().await?.faults.is_empty());
    assert_eq!(cluster.faults().status().await?.seed, 7);
    Ok(())
}

/// The code of what a create is refused with.
async fn made(client: kube::Client, name: &str) -> Option<u16> {
    let config = serde_json::from_value(json!({ "metadata": { "name": name } })).expect("a ConfigMap");
    match Api::<ConfigMap>::namespaced(client, "default").create(&PostParams::default(), &config).await {
        Err(kube::Error::Api(status)) => Some(status.code),
        _ => None,
    }
}

/// What a client is answered.
async fn met(cluster: &Cluster, seed: u64) -> Result<Vec<u16>, Box<dyn std::error::Error>> {
    cluster.faults().set(Some(seed), &["refuse 500 40% on get"]).await?;
    let namespaces: Api<Namespace> = Api::all(cluster.client().await?);
    let mut answers = vec![];
    for _ in 0..20 {
        answers.push(match namespaces.get("default").await {
            Ok(_) => 200,
            Err(kube::Error::Api(status)) => status.code,
            Err(error) => return Err(error.into()),
        });
    }
    Ok(answers)
}

#[test]
fn what_cannot_start_says_why() {
    let refused = Server::start(Options { crds: vec!["missing.yaml".into()], ..Options::default() });
    assert!(refused.expect_err("there is no such file").to_string().contains("missing.yaml"));
}

/// Run again, in a process of its own, by those below.
#[test]
#[ignore = "needs an environment of its own"]
fn starts() {
    println!("{}", Server::start(Options::default()).expect_err("there is no skiff"));
}

/// What it says below a folder with an npx on PATH, which tells that it was run by a file.
fn said_below(within: &Path) -> String {
    let below = within.join("a/b");
    fs::create_dir_all(&below).expect("a folder");
    script(&within.join("npx"), &format!(": >'{}'", within.join("asked").display()));
    let ended = again("starts").env_remove("SKIFF_BIN").env("PATH", within).current_dir(below).output().expect("runs");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

fn script(path: &Path, does: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("#!/bin/sh\n{does}\n")).expect("is written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("may be run");
}

#[test]
fn without_skiff_it_ends_at_once_and_asks_no_registry() {
    let within = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without");
    let _ = fs::remove_dir_all(&within);
    let said = said_below(&within);
    assert!(said.contains("skiff is not found: set SKIFF_BIN"), "{said}");
    assert!(!within.join("asked").exists());
}

#[test]
fn skiff_of_the_npm_project_above_is_found() {
    let within = Path::new(env!("CARGO_TARGET_TMPDIR")).join("project");
    script(&within.join("node_modules/.bin/skiff"), "echo the project\\'s >&2");
    let said = said_below(&within);
    assert!(said.contains("the project's"), "{said}");
}

/// Run again, in a process of its own, by those below.
#[tokio::test]
#[ignore = "fails"]
async fn fails() {
    let cluster = SERVER.fork().await.expect("a fork");
    let pods: Api<Pod> = Api::namespaced(cluster.client().await.expect("a client"), "default");
    let sad = json!({ "metadata": { "name": "sad" }, "spec": { "containers": [{ "name": "c", "image": "there.invalid/i" }] } });
    pods.create(&PostParams::default(), &serde_json::from_value(sad).expect("a pod")).await.expect("is made");
    assert!(pods.list(&ListParams::default()).await.expect("a list").items.is_empty());
}

#[test]
#[ignore = "never ends"]
fn is_killed() {
    let server = Server::start(Options::default()).expect("skiff starts");
    println!("pid {}", server.pid());
    std::thread::sleep(Duration::from_secs(600));
}

fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}

#[test]
fn a_failed_test_tells_what_happened() {
    let ended = again("fails").output().expect("runs");
    assert!(!ended.status.success());
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("Pod default/sad"), "{said}");
    assert!(said.lines().any(|line| line.contains("POST /api/v1/namespaces/default/pods") && line.contains("201")), "{said}");
}

#[test]
fn nothing_is_left_when_the_tests_are_killed() {
    let mut killed = again("is_killed").stdout(Stdio::piped()).spawn().expect("runs");
    let lines = BufReader::new(killed.stdout.take().expect("is piped")).lines();
    let pid = lines.map_while(Result::ok).find_map(|line| line.split_once("pid ").map(|(_, pid)| pid.to_owned())).expect("a pid");
    killed.kill().expect("is killed");
    killed.wait().expect("has ended");
    let there = std::path::PathBuf::from(format!("/proc/{pid}"));
    let until = Instant::now() + Duration::from_secs(30);
    while there.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!there.exists());
}
