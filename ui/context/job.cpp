#include "ui/context/job.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QMetaObject>
#include <QThreadPool>

#include <mutex>

#include "ui/context/background.h"

namespace sonde::context {

/// What worker and receiver share. The receiver may be gone when the worker comes back.
struct Job::Link {
    std::mutex mutex;
    Job* receiver = nullptr;

    /// Has `call(job)` called on the receiver's thread, if the receiver is still there by then.
    template <typename Call>
    void post(Call call) {
        const std::lock_guard lock(mutex);
        if (!receiver) return;
        QMetaObject::invokeMethod(
            receiver, [job = receiver, call = std::move(call)]() mutable { call(*job); }, Qt::QueuedConnection);
    }
};

namespace {

/// Work of different kinds must not wait for each other, so there are more threads than processors; most of them sleep.
QThreadPool& workers() {
    static QThreadPool* pool = [] {
        auto* made =
            new QThreadPool;  // kept to the end of the process: its destructor would wait in static destruction
        made->setMaxThreadCount(32);
        qAddPostRoutine([] { Job::waitForAll(); });
        return made;
    }();
    return *pool;
}

constexpr qint64 kProgressIntervalMs = 33;

}  // namespace

Job::Job(QObject* parent) : QObject(parent), m_link(std::make_shared<Link>()) { m_link->receiver = this; }

Job::~Job() {
    const std::lock_guard lock(m_link->mutex);
    m_link->receiver = nullptr;
    m_stop.request_stop();
}

quint64 Job::submit(Task task) {
    const quint64 number = ++m_counter;
    m_stop.request_stop();
    m_stop = std::stop_source();
    m_active = number;
    if (m_busy) {
        m_pendingNumber = number;
        m_pending = std::move(task);
    } else {
        launch(number, std::move(task));
    }
    Q_EMIT started();
    return number;
}

void Job::launch(quint64 number, Task task) {
    m_busy = true;
    workers().start([link = m_link, number, task = std::move(task), stop = m_stop.get_token()]() mutable {
        QElapsedTimer last;
        base::WorkContext context;
        context.stop = stop;
        context.progress = [&](const base::Progress& progress) {
            if (last.isValid() && last.elapsed() < kProgressIntervalMs) return;
            last.start();
            link->post([number, progress](Job& job) {
                if (job.m_active == number) Q_EMIT job.progressed(progress);
            });
        };
        Deliver deliver = task(context);
        task = {};  // what it captured is freed here and not on the receiving thread
        link->post([number, deliver = std::move(deliver)](Job& job) mutable {
            const bool wanted = number == job.m_active;
            job.workerDone(number, deliver);
            if (!wanted) freeLater(std::make_shared<Deliver>(std::move(deliver)));  // with the result that nobody took
        });
    });
}

void Job::workerDone(quint64 number, const Deliver& deliver) {
    m_busy = false;
    if (number == m_active) {
        m_active = 0;
        const QPointer<Job> self(this);
        deliver();
        if (!self) return;
        if (m_active == 0) Q_EMIT finished();
    }
    if (!m_busy && m_pending) {
        Task task = std::exchange(m_pending, {});
        if (m_pendingNumber == m_active) launch(m_pendingNumber, std::move(task));
    }
}

void Job::cancel() { m_stop.request_stop(); }

void Job::abandon() {
    m_stop.request_stop();
    m_pending = {};
    if (m_active == 0) return;
    m_active = 0;
    Q_EMIT finished();
}

void Job::waitForAll() { workers().waitForDone(); }

void runInBackground(std::function<void()> work) { workers().start(std::move(work)); }

void freeLater(std::shared_ptr<const void> what) {
    if (!what || !QCoreApplication::instance()) return;
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [what = std::move(what)]() mutable { workers().start([what = std::move(what)] {}); }, Qt::QueuedConnection);
}

}  // namespace sonde::context
