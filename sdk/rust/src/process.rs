//! The process of skiff: calls written to its standard input, answers read from its standard output by a thread of its own.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use serde_json::{Value, json};

use crate::{Error, Result};

const START_PATIENCE: Duration = Duration::from_secs(60);
const CALL_PATIENCE: Duration = Duration::from_secs(120);
const END_PATIENCE: Duration = Duration::from_secs(10);
const LINES_KEPT: usize = 50;

type Answer = Box<dyn FnOnce(Result<Value>) + Send>;

pub struct Process {
    pid: u32,
    child: Mutex<Child>,
    calls: Mutex<Calls>,
    said: Arc<Mutex<VecDeque<String>>>,
}

struct Calls {
    /// None once the process has ended or is to end.
    input: Option<ChildStdin>,
    last: u64,
    waiting: HashMap<u64, Answer>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Process({})", self.pid)
    }
}

impl Process {
    /// The process, and what it tells of its cluster.
    pub fn start(arguments: &[String]) -> Result<(Arc<Process>, Value)> {
        let program = command()?;
        let mut child = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Error(format!("skiff cannot be started: {}: {error}", program.display())))?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let heard = said.clone();
        let errors = thread::spawn(move || {
            for line in BufReader::new(errors.expect("is piped")).lines().map_while(std::result::Result::ok) {
                let mut said = locked(&heard);
                said.push_back(line);
                if said.len() > LINES_KEPT {
                    said.pop_front();
                }
            }
        });
        let process = Arc::new(Process {
            pid: child.id(),
            child: Mutex::new(child),
            calls: Mutex::new(Calls { input, last: 0, waiting: HashMap::new() }),
            said,
        });
        let (ready, told) = mpsc::channel();
        let listener = process.clone();
        thread::spawn(move || {
            for line in BufReader::new(output.expect("is piped")).lines().map_while(std::result::Result::ok) {
                // SKIFF_BIN may be a script that writes a line of its own.
                let Ok(mut value) = serde_json::from_str::<Value>(&line) else { continue };
                if value.get("ready").is_some() {
                    let _ = ready.send(value["ready"].take());
                } else {
                    listener.take(value);
                }
            }
            let _ = errors.join();
            listener.ended();
        });
        match told.recv_timeout(START_PATIENCE) {
            Ok(told) => Ok((process, told)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(process.gone()),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                process.stop();
                Err(Error(format!("skiff was not ready within {} s", START_PATIENCE.as_secs())))
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub async fn call(&self, method: &str, params: Value) -> Result<Value> {
        let (tell, told) = oneshot::channel();
        // An error: whoever asked has gone.
        self.ask(method, params, Box::new(|answer| drop(tell.send(answer))));
        told.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// For destructors, which cannot wait otherwise.
    pub fn call_blocking(&self, method: &str, params: Value) -> Result<Value> {
        let (tell, told) = mpsc::channel();
        self.ask(method, params, Box::new(move |answer| drop(tell.send(answer))));
        told.recv_timeout(CALL_PATIENCE).unwrap_or_else(|_| Err(self.gone()))
    }

    fn ask(&self, method: &str, params: Value, answer: Answer) {
        let mut calls = locked(&self.calls);
        calls.last += 1;
        let id = calls.last;
        let line = format!("{}\n", json!({ "id": id, "method": method, "params": params }));
        if calls.input.as_mut().is_some_and(|input| input.write_all(line.as_bytes()).is_ok()) {
            calls.waiting.insert(id, answer);
            return;
        }
        drop(calls);
        answer(Err(self.gone()));
    }

    fn take(&self, mut told: Value) {
        let answer = told["id"].as_u64().and_then(|id| locked(&self.calls).waiting.remove(&id));
        if let Some(answer) = answer {
            answer(match told["error"].as_str() {
                Some(error) => Err(Error(error.to_owned())),
                None => Ok(told["result"].take()),
            });
        }
    }

    fn ended(&self) {
        let waiting = {
            let mut calls = locked(&self.calls);
            calls.input = None;
            std::mem::take(&mut calls.waiting)
        };
        for answer in waiting.into_values() {
            answer(Err(self.gone()));
        }
    }

    fn gone(&self) -> Error {
        let said = locked(&self.said).iter().cloned().collect::<Vec<_>>().join("\n");
        Error(format!("skiff has ended: {}", if said.is_empty() { "without a word" } else { said.as_str() }))
    }

    /// Ends it and waits until it has ended.
    pub fn stop(&self) {
        locked(&self.calls).input = None;
        let mut child = locked(&self.child);
        let until = Instant::now() + END_PATIENCE;
        while let Ok(None) = child.try_wait() {
            if Instant::now() > until {
                let _ = child.kill();
                let _ = child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A test that panicked while it held a lock has left nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn command() -> Result<PathBuf> {
    if let Some(binary) = std::env::var_os("SKIFF_BIN").filter(|binary| !binary.is_empty()) {
        return Ok(binary.into());
    }
    if let Some(found) = on_path() {
        return Ok(found);
    }
    in_project().ok_or_else(|| {
        Error("skiff is not found: set SKIFF_BIN to its executable, put it on PATH, or install it in the npm project that the tests run in".to_owned())
    })
}

fn on_path() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("skiff")).find(|path| is_file(path))
}

/// In the npm project that the working directory is in. npx is not asked: it asks npm's registry, which has another package of that name.
fn in_project() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("node_modules/.bin/skiff")).find(|path| is_file(path))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file())
}
