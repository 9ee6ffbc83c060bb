// Background work: the newest piece wins, stale results are dropped, nobody waits.

#include <QSignalSpy>
#include <QtTest>

#include <atomic>
#include <chrono>
#include <thread>

#include "ui/context/background.h"
#include "ui/context/job.h"

namespace tst_job {

using sonde::base::Progress;
using sonde::base::WorkContext;
using sonde::context::Job;

class TestJob : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void deliversOnTheReceivingThread();
    void aNewerRequestSupersedesTheOlder();
    void workThatNeverBeganIsDropped();
    void cancelledWorkStillDelivers();
    void abandonedWorkDeliversNothing();
    void theReceiverMayGoAway();
    void progressArrives();
    void whatNobodyTakesIsFreedByAWorker();
};

namespace {

/// Works until it is told to stop; returns how it ended.
bool untilStopped(const WorkContext& work) {
    while (!work.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
}

/// When this returns, no worker has anything left to do, and whatever they posted has arrived.
void deliverEverything() {
    Job::waitForAll();
    QCoreApplication::processEvents();
}

}  // namespace

void TestJob::deliversOnTheReceivingThread() {
    Job job;
    QThread* worker = nullptr;
    QThread* receiver = nullptr;
    job.start(
        [&](const WorkContext&) {
            worker = QThread::currentThread();
            return 7;
        },
        [&](int value) {
            QCOMPARE(value, 7);
            receiver = QThread::currentThread();
        });
    QVERIFY(job.isActive());
    QTRY_VERIFY(receiver);
    QCOMPARE(receiver, thread());
    QVERIFY(worker != receiver);
    QVERIFY(!job.isActive());
}

void TestJob::aNewerRequestSupersedesTheOlder() {
    Job job;
    QList<int> delivered;
    job.start(
        [](const WorkContext& work) {
            untilStopped(work);
            return 1;
        },
        [&](int value) { delivered << value; });
    job.start([](const WorkContext&) { return 2; }, [&](int value) { delivered << value; });
    QTRY_COMPARE(delivered, QList<int>{2});
    deliverEverything();
    QCOMPARE(delivered, QList<int>{2});
}

void TestJob::workThatNeverBeganIsDropped() {
    Job job;
    std::atomic<bool> secondRan{false};
    QList<int> delivered;
    job.start(
        [](const WorkContext& work) {
            untilStopped(work);
            return 1;
        },
        [&](int value) { delivered << value; });
    job.start(
        [&](const WorkContext&) {
            secondRan = true;
            return 2;
        },
        [&](int value) { delivered << value; });
    job.start([](const WorkContext&) { return 3; }, [&](int value) { delivered << value; });
    QTRY_COMPARE(delivered, QList<int>{3});
    QVERIFY(!secondRan);
}

void TestJob::cancelledWorkStillDelivers() {
    Job job;
    bool delivered = false;
    QSignalSpy finished(&job, &Job::finished);
    job.start([](const WorkContext& work) { return untilStopped(work); }, [&](bool stopped) { delivered = stopped; });
    job.cancel();
    QTRY_VERIFY(delivered);
    QCOMPARE(finished.count(), 1);
}

void TestJob::abandonedWorkDeliversNothing() {
    Job job;
    bool delivered = false;
    QSignalSpy finished(&job, &Job::finished);
    job.start([](const WorkContext& work) { return untilStopped(work); }, [&](bool) { delivered = true; });
    job.abandon();
    QVERIFY(!job.isActive());
    QCOMPARE(finished.count(), 1);
    deliverEverything();
    QVERIFY(!delivered);
}

void TestJob::theReceiverMayGoAway() {
    std::atomic<bool> ended{false};
    {
        Job job;
        job.start(
            [&](const WorkContext& work) {
                untilStopped(work);
                ended = true;
                return 1;
            },
            [](int) { QFAIL("nobody is there"); });
    }
    QTRY_VERIFY(ended);
    deliverEverything();
}

void TestJob::progressArrives() {
    Job job;
    QSignalSpy progressed(&job, &Job::progressed);
    bool done = false;
    job.start(
        [](const WorkContext& work) {
            for (std::size_t i = 0; i < 1000; ++i) work.report("counting", i, 1000);
            return 0;
        },
        [&](int) { done = true; });
    QTRY_VERIFY(done);
    QVERIFY(progressed.count() >= 1);
    QVERIFY2(progressed.count() < 100, "reports must not flood the receiving thread");
}

/// A large model that nobody wants any more must not stop the window while it is freed.
void TestJob::whatNobodyTakesIsFreedByAWorker() {
    struct Large {
        explicit Large(std::atomic<std::thread::id>* at) : freedOn(at) {}
        ~Large() { *freedOn = std::this_thread::get_id(); }
        std::atomic<std::thread::id>* freedOn;
    };
    std::atomic<std::thread::id> abandoned{}, given{};
    Job job;
    std::atomic<bool> made{false};
    job.start(
        [&](const WorkContext&) {
            made = true;
            return std::make_shared<Large>(&abandoned);
        },
        [](const std::shared_ptr<Large>&) { QFAIL("nobody wants it"); });
    while (!made) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    job.abandon();
    QTRY_VERIFY(abandoned.load() != std::thread::id());
    QVERIFY(abandoned.load() != std::this_thread::get_id());
    auto large = std::make_shared<Large>(&given);
    sonde::context::freeLater(large);
    large.reset();
    QVERIFY(given.load() == std::thread::id());  // not before the event is over
    QTRY_VERIFY(given.load() != std::thread::id());
    QVERIFY(given.load() != std::this_thread::get_id());
}

QTEST_GUILESS_MAIN(TestJob)

}  // namespace tst_job

#include "tst_job.moc"
