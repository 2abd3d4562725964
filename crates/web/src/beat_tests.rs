use std::collections::BTreeSet;
use std::pin::pin;
use std::task::Poll;
use std::thread;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio::time::{advance, sleep};

use super::*;
use crate::framed::{Next, framed_at};

const BEAT: Duration = Duration::from_millis(10);

/// Words that leave at the beat, but for `!`, which is followed by what may not wait.
fn spoken(beat: &Beat) -> (mpsc::UnboundedSender<&'static str>, impl Stream<Item = Bytes> + Send + Unpin + use<>) {
    let (says, heard) = mpsc::unbounded_channel();
    let words = futures::stream::unfold(heard, |mut heard| async { Some((heard.recv().await?, heard)) });
    let stream = framed_at(beat.clone(), words, |word: Option<&str>, out| {
        out.extend_from_slice(word.unwrap_or(".").as_bytes());
        if word == Some("!") { Next::AtOnce } else { Next::AtTheBeat }
    });
    (says, Box::pin(stream))
}

/// So many of these, each with its first word behind it.
async fn begun(
    count: usize,
    beat: &Beat,
) -> Vec<(mpsc::UnboundedSender<&'static str>, impl Stream<Item = Bytes> + Send + Unpin + use<>)> {
    let mut streams: Vec<_> = (0..count).map(|_| spoken(beat)).collect();
    for (says, stream) in &mut streams {
        says.send("a").unwrap();
        stream.next().await;
    }
    streams
}

/// What comes is told in two steps, and a look may fall between them.
#[test]
fn a_look_in_the_middle_of_a_strike_loses_none_that_follow() {
    let (waker, woken) = a_task();
    let context = Context::from_waker(&waker);
    let mut bell = Beat::default().bell();
    bell.pull.state.store(QUIET, Ordering::Release);
    assert!(!bell.is_due(&context));
    bell.pull.state.store(DUE, Ordering::Release);
    assert!(bell.is_due(&context));
    bell.pull.task.wake();
    bell.listens(Pace::AtOnce);
    assert!(!bell.is_due(&context), "nothing has come since");
    let before = woken.load(Ordering::Relaxed);
    bell.waker().wake_by_ref();
    assert_eq!(woken.load(Ordering::Relaxed), before + 1);
    assert!(bell.is_due(&context));
}

/// A task that counts how often it is woken.
fn a_task() -> (Waker, Arc<AtomicU64>) {
    struct Task(Arc<AtomicU64>);
    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let woken = Arc::new(AtomicU64::new(0));
    (Waker::from(Arc::new(Task(Arc::clone(&woken)))), woken)
}

#[tokio::test(start_paused = true)]
async fn the_first_word_leaves_at_once_and_what_follows_together_at_the_beat() {
    let (says, mut stream) = spoken(&Beat::every(BEAT));
    let start = Instant::now();
    says.send("a").unwrap();
    assert_eq!(stream.next().await.unwrap(), "a");
    assert_eq!(start.elapsed(), Duration::ZERO);
    let speaking = tokio::spawn(async move {
        for (after, word) in [(6, "b"), (1, "c"), (2, "d")] {
            sleep(Duration::from_millis(after)).await;
            says.send(word).unwrap();
        }
        says
    });
    assert_eq!(stream.next().await.unwrap(), "bcd");
    assert_eq!(start.elapsed(), BEAT);
    sleep(Duration::from_millis(7)).await;
    drop(speaking.await.unwrap());
    assert_eq!(stream.next().await.unwrap(), ".");
    assert_eq!((start.elapsed(), stream.next().await), (BEAT * 2, None));
}

#[tokio::test(start_paused = true)]
async fn all_streams_wait_for_the_same_beat() {
    let beat = Beat::every(BEAT);
    let start = Instant::now();
    let reading = [5, 7, 9].map(|after| {
        let (says, mut stream) = spoken(&beat);
        tokio::spawn(async move {
            says.send("a").unwrap();
            stream.next().await;
            sleep(Duration::from_millis(after)).await;
            says.send("b").unwrap();
            (stream.next().await, Instant::now())
        })
    });
    for reading in reading {
        let (word, then) = reading.await.unwrap();
        assert_eq!((word.unwrap(), then - start), (Bytes::from("b"), BEAT));
    }
}

#[tokio::test(start_paused = true)]
async fn the_more_streams_there_are_the_more_beats_they_let_pass() {
    let beat = Beat::every(BEAT);
    let start = Instant::now();
    let mut streams = begun(100, &beat).await;
    sleep(Duration::from_millis(6)).await;
    streams.iter().for_each(|(says, _)| says.send("b").unwrap());
    for (_, stream) in &mut streams {
        assert_eq!((stream.next().await.unwrap(), start.elapsed()), (Bytes::from("b"), BEAT * 8));
    }
    streams.truncate(20);
    sleep(Duration::from_millis(6)).await;
    let (says, stream) = &mut streams[0];
    says.send("c").unwrap();
    assert_eq!((stream.next().await.unwrap(), start.elapsed()), (Bytes::from("c"), BEAT * 10));
}

/// Words that come without anybody being woken, and how often they were looked for.
fn mute(beat: &Beat) -> (Arc<AtomicU64>, Arc<AtomicU64>, impl Stream<Item = Bytes> + Send + Unpin + use<>) {
    let (said, looks) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(0)));
    let (says, looked) = (Arc::clone(&said), Arc::clone(&looks));
    let words = futures::stream::poll_fn(move |_| {
        looked.fetch_add(1, Ordering::Relaxed);
        let is_there = said.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        if is_there { Poll::Ready(Some("a")) } else { Poll::Pending }
    });
    let stream = framed_at(beat.clone(), words, |word: Option<&str>, out| {
        out.extend_from_slice(word.unwrap_or(".").as_bytes());
        Next::AtTheBeat
    });
    (says, looks, Box::pin(stream))
}

#[tokio::test(start_paused = true)]
async fn who_is_relied_on_looks_when_it_is_its_turn_but_not_for_ever() {
    let beat = Beat::promising(BEAT, |poll| {
        poll();
        true
    });
    // So many that each waits for long.
    let _others: Vec<_> = (0..200).map(|_| beat.clone().bell()).collect();
    let (says, looks, mut stream) = mute(&beat);
    let start = Instant::now();
    assert_eq!(stream.next().await.unwrap(), "a");
    says.store(2, Ordering::Relaxed);
    assert_eq!((stream.next().await.unwrap(), start.elapsed()), (Bytes::from("aa"), BEAT * 15));
    let silence = Duration::from_secs(10);
    assert!(tokio::time::timeout(silence, stream.next()).await.is_err());
    let before = looks.load(Ordering::Relaxed);
    assert!((8..20).contains(&before), "{before} looks");
    assert!(tokio::time::timeout(silence, stream.next()).await.is_err());
    assert_eq!(looks.load(Ordering::Relaxed), before);
}

#[tokio::test(start_paused = true)]
async fn a_few_streams_promise_nothing() {
    let beat = Beat::promising(BEAT, |_| panic!("a promise"));
    let (says, mut stream) = spoken(&beat);
    for word in ["a", "b"] {
        says.send(word).unwrap();
        assert_eq!(stream.next().await.unwrap(), word);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_an_earlier_beat_than_others_is_woken_at_it() {
    let beat = Beat::every(BEAT);
    let start = Instant::now();
    let mut streams = begun(100, &beat).await;
    sleep(Duration::from_millis(6)).await;
    streams[0].0.send("b").unwrap();
    assert!(futures::poll!(streams[0].1.next()).is_pending());
    streams.truncate(2);
    sleep(Duration::from_millis(6)).await;
    streams[1].0.send("c").unwrap();
    assert_eq!((streams[1].1.next().await.unwrap(), start.elapsed()), (Bytes::from("c"), BEAT * 2));
    assert_eq!((streams[0].1.next().await.unwrap(), start.elapsed()), (Bytes::from("b"), BEAT * 8));
}

/// What a processor that is full does to a clock: it strikes when there is time.
#[tokio::test(start_paused = true)]
async fn beats_that_strike_late_again_and_again_are_fewer_for_each() {
    let beat = Beat::every(BEAT);
    let clock = beat.0.clone().unwrap();
    let (says, mut stream) = spoken(&beat);
    says.send("a").unwrap();
    stream.next().await;
    clock.streams.store(200, Ordering::Relaxed);
    for beats in [15, 20, 25] {
        assert_eq!(clock.stride(200), beats);
        for _ in 0..13 {
            advance(BEAT / 2).await;
            says.send("b").unwrap();
            assert!(futures::poll!(stream.next()).is_pending());
            tokio::task::yield_now().await;
            advance(BEAT * 30).await;
            assert_eq!(stream.next().await.unwrap(), "b");
        }
    }
    advance(BEAT / 2).await;
    says.send("c").unwrap();
    stream.next().await;
    assert_eq!(clock.beats() % 25, 0);
}

#[test]
fn a_beat_is_in_time_when_those_before_have_had_their_turn() {
    let clock = Beat::every(BEAT).0.unwrap();
    assert!(clock.is_in_time(BEAT / 2, BEHIND - 1));
    assert!(!clock.is_in_time(BEAT, 0) && !clock.is_in_time(Duration::ZERO, BEHIND));
}

#[test]
fn thousands_are_dealt_out_over_the_beats() {
    let clock = Beat::every(BEAT).0.unwrap();
    for streams in [1, 999, 2_000, 5_500, 10_000, 1_000_000] {
        clock.streams.store(streams, Ordering::Relaxed);
        for beat in [0, 7, 1_000_000] {
            let beats: Vec<_> = (0..1_200).map(|stream| clock.next(stream, beat) - beat).collect();
            assert!(beats.iter().all(|beats| (1..=15).contains(beats)), "{streams} streams: {beats:?}");
            let taken: BTreeSet<_> = beats.iter().collect();
            assert_eq!(taken.len(), (streams / TOGETHER).clamp(1, 15), "{streams} streams");
            for wanted in taken {
                let together = beats.iter().filter(|beats| *beats == wanted).count();
                assert!((80..=1_200).contains(&together), "{streams} streams: {together} at once");
            }
        }
    }
}

#[test]
fn nobody_waits_for_longer_than_the_longest_wait_or_a_beat() {
    for (interval, longest) in [(1, 150), (10, 150), (40, 120), (3_600_000, 3_600_000)] {
        let clock = Beat::every(Duration::from_millis(interval)).0.unwrap();
        clock.streams.store(usize::MAX, Ordering::Relaxed);
        let waits = (0..1_000).map(|stream| clock.next(stream, 41) - 41).max().unwrap() * interval;
        assert_eq!(waits, longest, "beats of {interval} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn behind_what_may_not_wait_nothing_does() {
    let (says, mut stream) = spoken(&Beat::every(BEAT));
    says.send("a").unwrap();
    stream.next().await;
    says.send("!").unwrap();
    assert_eq!(stream.next().await.unwrap(), "!");
    let then = Instant::now();
    let next = tokio::spawn(async move { stream.next().await });
    tokio::task::yield_now().await;
    says.send("b").unwrap();
    assert_eq!(next.await.unwrap().unwrap(), "b");
    assert_eq!(then.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn more_than_fits_into_a_write_waits_for_no_further_beat() {
    let (says, mut stream) = spoken(&Beat::every(BEAT));
    let large: &'static str = "x".repeat(50_000).leak();
    says.send("a").unwrap();
    stream.next().await;
    says.send(large).unwrap();
    let (mut read, mut first) = (0, None);
    while read < large.len() {
        read += stream.next().await.unwrap().len();
        first.get_or_insert_with(Instant::now);
    }
    assert_eq!(first.unwrap().elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn who_hands_over_piece_by_piece_is_heard_to_the_end() {
    let (says, heard) = mpsc::channel(1);
    let words = futures::stream::unfold(heard, |mut heard| async { Some((heard.recv().await?, heard)) });
    let mut stream = Box::pin(framed_at(Beat::every(BEAT), words, |word: Option<&str>, out| {
        out.extend_from_slice(word.unwrap_or(".").as_bytes());
        Next::AtTheBeat
    }));
    tokio::spawn(async move {
        for _ in 0..1_000 {
            says.send("a").await.unwrap();
        }
    });
    let (start, mut read) = (Instant::now(), 0);
    while let Some(bytes) = stream.next().await {
        read += bytes.len();
    }
    assert_eq!(read, 1_001);
    assert!(start.elapsed() <= BEAT, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn without_a_beat_nothing_waits() {
    let (says, mut stream) = spoken(&Beat::default());
    let start = Instant::now();
    for word in ["a", "b", "c"] {
        says.send(word).unwrap();
        assert_eq!(stream.next().await.unwrap(), word);
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
}

fn without_a_runtime<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(thread::current()))));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

#[test]
fn where_nothing_ticks_nothing_waits() {
    let (says, mut stream) = spoken(&Beat::every(Duration::from_secs(3600)));
    let speaking = thread::spawn(move || ["a", "b"].map(|word| says.send(word).unwrap()));
    let mut all = Bytes::new();
    while !all.ends_with(b".") {
        all = [all, without_a_runtime(stream.next()).unwrap()].concat().into();
    }
    speaking.join().unwrap();
    assert_eq!(all, "ab.");
}

#[tokio::test]
async fn whatever_is_said_whenever_from_wherever_is_heard() {
    let beat = Beat::every(Duration::from_millis(1));
    let reading: Vec<_> = (0..20)
        .map(|_| {
            let (says, stream) = spoken(&beat);
            let speaking = thread::spawn(move || {
                for n in 0..500 {
                    says.send(if n % 7 == 0 { "!" } else { "a" }).unwrap();
                    thread::yield_now();
                }
            });
            tokio::spawn(async move {
                let mut stream = pin!(stream);
                let mut heard = 0;
                while let Some(bytes) = stream.next().await {
                    heard += bytes.len();
                }
                speaking.join().unwrap();
                heard
            })
        })
        .collect();
    for reading in reading {
        assert_eq!(reading.await.unwrap(), 501);
    }
}
