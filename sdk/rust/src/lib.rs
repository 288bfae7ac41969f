//! A real Kubernetes API with its controllers and simulated nodes in Rust tests: one process of skiff for a run of tests, and a fork of its
//! cluster for each test. The protocol is that of `skiff test-server`.

mod process;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use process::Process;

/// What skiff refuses, in its words, or why there is no skiff to answer.
#[derive(Debug, Clone)]
pub struct Error(String);

impl std::fmt::Display for Error {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// What the cluster is, and what it begins with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Time stands still until [`Clock`] moves it.
    pub manual_clock: bool,
    /// The number of simulated nodes.
    pub nodes: usize,
    /// Those of `skiff up --components`. Empty: all.
    pub components: String,
    /// Files and folders of definitions of custom resources.
    pub crds: Vec<PathBuf>,
    /// Files and folders of manifests.
    pub objects: Vec<PathBuf>,
    /// A file of `skiff snapshot save`.
    pub snapshot: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { manual_clock: false, nodes: 1, components: String::new(), crds: vec![], objects: vec![], snapshot: None }
    }
}

impl Options {
    fn arguments(&self) -> Vec<String> {
        let clock = if self.manual_clock { "manual" } else { "real" };
        let nodes = self.nodes.to_string();
        let mut arguments: Vec<String> = ["test-server", "--clock", clock, "--nodes", &nodes].map(String::from).to_vec();
        let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        if !self.components.is_empty() {
            add("--components", self.components.clone());
        }
        for path in &self.crds {
            add("--crds", path.display().to_string());
        }
        for path in &self.objects {
            add("--objects", path.display().to_string());
        }
        if let Some(path) = &self.snapshot {
            add("--from", path.display().to_string());
        }
        arguments
    }
}

/// One process of skiff with one cluster, to be forked. It ends when it is dropped, or with this process, however that ends: so it may
/// be a static.
#[derive(Debug)]
pub struct Server {
    process: Arc<Process>,
    cluster: Cluster,
}

impl Server {
    /// Blocks until the cluster is ready, about half a second.
    pub fn start(options: Options) -> Result<Server> {
        let (process, told) = Process::start(&options.arguments())?;
        let cluster = Cluster::new(&process, &told, false)?;
        Ok(Server { process, cluster })
    }

    /// The cluster that it was started with.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The process of skiff.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// A cluster for one test, with the same objects.
    pub async fn fork(&self) -> Result<Cluster> {
        self.cluster.fork().await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.stop();
    }
}

/// A cluster. A fork ends when it is dropped; if that is because its test panics, what happened in it is printed.
#[derive(Debug)]
pub struct Cluster {
    process: Arc<Process>,
    name: String,
    url: String,
    kubeconfig: PathBuf,
    is_fork: bool,
}

impl Cluster {
    fn new(process: &Arc<Process>, told: &Value, is_fork: bool) -> Result<Cluster> {
        let text = |key: &str| told[key].as_str().map(str::to_owned).ok_or_else(|| Error(format!("skiff did not tell the {key} of a cluster")));
        Ok(Cluster { process: process.clone(), name: text("name")?, url: text("url")?, kubeconfig: text("kubeconfig")?.into(), is_fork })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its API server serves.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A file, its administrator's.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A client with the administrator's rights. As kube's own it tells no user agent, so that a fault `by` a name is not for it.
    pub async fn client(&self) -> Result<kube::Client> {
        self.client_with(None).await
    }

    /// The same with a user agent, by whose first word faults know it.
    pub async fn client_named(&self, user_agent: &str) -> Result<kube::Client> {
        self.client_with(Some(user_agent)).await
    }

    async fn client_with(&self, user_agent: Option<&str>) -> Result<kube::Client> {
        let failed = |error: &dyn std::fmt::Display| Error(format!("{}: {error}", self.kubeconfig.display()));
        let read = Kubeconfig::read_from(&self.kubeconfig).map_err(|error| failed(&error))?;
        let mut config = kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await.map_err(|error| failed(&error))?;
        if let Some(name) = user_agent {
            let value = name.parse().map_err(|_| Error(format!("a user agent that cannot be sent: {name:?}")))?;
            config.headers.push(("user-agent".parse().expect("a header's name"), value));
        }
        kube::Client::try_from(config).map_err(|error| failed(&error))
    }

    /// A second cluster with the same objects.
    pub async fn fork(&self) -> Result<Cluster> {
        let told = self.call("fork", json!({})).await?;
        Cluster::new(&self.process, &told, true)
    }

    /// The objects that have changed since the fork, their Events, and the last 50 requests, as text.
    pub async fn report(&self) -> Result<String> {
        Ok(text_of(&self.call("report", json!({})).await?, "text"))
    }

    /// Its time, which can be moved if it was started with a manual clock.
    pub fn clock(&self) -> Clock<'_> {
        Clock { cluster: self }
    }

    /// What goes wrong on purpose.
    pub fn faults(&self) -> Faults<'_> {
        Faults { cluster: self }
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value> {
        self.process.call(method, self.named(params)).await
    }

    fn named(&self, params: Value) -> Value {
        let mut params: Map<String, Value> = params.as_object().cloned().unwrap_or_default();
        params.insert("name".into(), self.name.clone().into());
        params.into()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !self.is_fork {
            return;
        }
        if std::thread::panicking() {
            let report = self.process.call_blocking("report", self.named(json!({})));
            eprintln!("skiff {}\n{}", self.name, report.map_or_else(|error| format!("there is no report: {error}"), |told| text_of(&told, "text")));
        }
        // Its process may have ended before it, which is an end of the fork, too.
        let _ = self.process.call_blocking("end", self.named(json!({})));
    }
}

/// The time of a cluster that was started with a manual clock. All that happens in a time has happened when a method returns that moves
/// over it; each gives the time then.
pub struct Clock<'a> {
    cluster: &'a Cluster,
}

impl Clock<'_> {
    pub async fn now(&self) -> Result<OffsetDateTime> {
        self.moved("now", json!({})).await
    }

    pub async fn advance(&self, by: Duration) -> Result<OffsetDateTime> {
        self.moved("advance", json!({ "duration": written(by) })).await
    }

    pub async fn advance_to(&self, to: OffsetDateTime) -> Result<OffsetDateTime> {
        let to = to.format(&Rfc3339).map_err(|error| Error(format!("a time that RFC 3339 cannot write: {error}")))?;
        self.moved("advanceTo", json!({ "time": to })).await
    }

    /// Until nothing waits any more but heartbeats and the like.
    pub async fn run_until_idle(&self, at_most: Duration) -> Result<OffsetDateTime> {
        self.moved("runUntilIdle", json!({ "atMost": written(at_most) })).await
    }

    async fn moved(&self, method: &str, params: Value) -> Result<OffsetDateTime> {
        let told = text_of(&self.cluster.call(method, params).await?, "time");
        OffsetDateTime::parse(&told, &Rfc3339).map_err(|error| Error(format!("skiff told the time {told:?}: {error}")))
    }
}

/// What goes wrong on purpose for the clients under test, in the words of skiff's docs/faults.md: "watch drop 5% by my-operator". The same
/// seed brings the same faults to the same sequence of requests.
pub struct Faults<'a> {
    cluster: &'a Cluster,
}

/// What there is of faults, and what came of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultStatus {
    pub seed: u64,
    pub faults: Vec<FaultCount>,
}

/// How many requests or events a fault was for, and how many of them it struck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultCount {
    pub fault: String,
    pub met: u64,
    pub struck: u64,
}

impl Faults<'_> {
    /// Only these from now on, with nothing counted yet; without a seed that stays.
    pub async fn set(&self, seed: Option<u64>, faults: &[&str]) -> Result<FaultStatus> {
        let mut params = json!({ "set": faults });
        if let Some(seed) = seed {
            params["seed"] = seed.into();
        }
        self.changed(params).await
    }

    pub async fn add(&self, faults: &[&str]) -> Result<FaultStatus> {
        self.changed(json!({ "add": faults })).await
    }

    /// Takes all of them away.
    pub async fn clear(&self) -> Result<FaultStatus> {
        self.changed(json!({ "clear": true })).await
    }

    pub async fn status(&self) -> Result<FaultStatus> {
        self.changed(json!({})).await
    }

    async fn changed(&self, params: Value) -> Result<FaultStatus> {
        let told = self.cluster.call("faults", params).await?;
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let faults = told["faults"].as_array().into_iter().flatten().map(|one| FaultCount {
            fault: text_of(one, "fault"),
            met: number(&one["met"]),
            struck: number(&one["struck"]),
        });
        Ok(FaultStatus { seed: number(&told["seed"]), faults: faults.collect() })
    }
}

/// As skiff reads durations.
fn written(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

fn text_of(told: &Value, key: &str) -> String {
    told[key].as_str().unwrap_or_default().to_owned()
}
