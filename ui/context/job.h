#pragma once

#include <QObject>
#include <QPointer>

#include <functional>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "core/base/progress.h"

namespace sonde::context {

/// One kind of background work: loading, running, laying out. At most one piece of it runs at a time; a newer one asks
/// the older to stop, takes its place, and what the older one still delivers is dropped on the receiving thread.
///
///     m_load.start([path](const base::WorkContext& work) { return document::open(path, {}, work); },
///                  [this](auto document) { … });   // on the thread of m_load, unless superseded or cancelled
///
/// Lives on the thread that receives (the UI thread), which never waits: not in start(), not in cancel(), and not in
/// the destructor (work that is still unwinding then delivers to nobody). The work must not touch the receiver.
class Job : public QObject {
    Q_OBJECT
  public:
    explicit Job(QObject* parent = nullptr);
    ~Job() override;

    /// Number of the job, counted from 1. `work` is called on a worker thread, `done` with its result on this thread.
    /// A superseded job that has not begun is never begun. A cancelled one still delivers what it returns.
    template <typename Work, typename Done>
    quint64 start(Work work, Done done) {
        using R = std::invoke_result_t<Work&, const base::WorkContext&>;
        return submit(
            [work = std::move(work), done = std::move(done)](const base::WorkContext& context) mutable -> Deliver {
                auto result = std::make_shared<R>(work(context));
                return [result, done = std::move(done)]() mutable { done(std::move(*result)); };
            });
    }

    /// Asks the work to stop; its result (a cancelled error, or what was computed so far) is still delivered.
    void cancel();
    /// Asks the work to stop and drops what it delivers.
    void abandon();
    bool isActive() const { return m_active != 0; }

    /// Waits until every worker has come to its end. For the end of the process only.
    static void waitForAll();

  Q_SIGNALS:
    void started();
    /// How far the running job is, at most about 30 times a second.
    void progressed(const sonde::base::Progress& progress);
    /// After `done` was called, or instead of it if the job was abandoned.
    void finished();

  private:
    using Deliver = std::function<void()>;
    using Task = std::function<Deliver(const base::WorkContext&)>;
    struct Link;

    quint64 submit(Task task);
    void launch(quint64 number, Task task);
    void workerDone(quint64 number, const Deliver& deliver);

    std::shared_ptr<Link> m_link;
    std::stop_source m_stop;
    quint64 m_counter = 0;
    quint64 m_active = 0;  ///< the job whose result is requested; 0: none
    bool m_busy = false;   ///< a worker of this object has not come back yet
    quint64 m_pendingNumber = 0;
    Task m_pending;
};

}  // namespace sonde::context
