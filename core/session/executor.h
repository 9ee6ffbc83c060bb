#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "core/base/progress.h"

namespace sonde::session {

/// The kinds of work that a session does. They go on beside each other; of each kind only the newest piece counts.
enum class Activity : std::uint8_t {
    Read,
    Run,
    Recompute,
    FindProblems,
    Compare,
    TestCases,
    Statistics,
    Debug,
    Watches,
    Edits
};
inline constexpr std::size_t kActivityCount = 10;

/// Where the work of a session is done: on the thread that asks for it (InlineExecutor), or on workers of the caller.
///
/// All functions are called on the session's thread: the one that all its verbs are called on.
class Executor {
  public:
    /// What brings the result of a piece of work to the session. To be called once, on the session's thread.
    using Deliver = std::function<void()>;
    /// Touches nothing of the session: may be called on any thread.
    using Task = std::function<Deliver(const base::WorkContext&)>;

    virtual ~Executor() = default;

    /// Does the task and calls what it returns. A newer task of the same kind supersedes an older one: two of one kind
    /// never go on at the same time, and what a superseded one delivers is dropped.
    virtual void start(Activity activity, Task task) = 0;
    /// Asks the task of this kind, if there is one, to stop, and drops what it delivers.
    virtual void abandon(Activity activity) = 0;
    virtual bool isActive(Activity activity) const = 0;
    /// Lets go of something that takes long to free, such as a large model, at a good moment.
    virtual void discard(std::shared_ptr<const void> what) { what.reset(); }
};

/// Does everything at once, on the calling thread: each verb of the session returns when its work is done.
class InlineExecutor : public Executor {
  public:
    /// `work`: the caller's, for all tasks. Its progress callback must call nothing of the session but stop().
    explicit InlineExecutor(base::WorkContext work = {}) : m_work(std::move(work)) {}

    void start(Activity activity, Task task) override;
    void abandon(Activity) override {}
    bool isActive(Activity activity) const override { return m_active[static_cast<std::size_t>(activity)]; }

  private:
    base::WorkContext m_work;
    std::array<bool, kActivityCount> m_active{};
};

/// Asks for a stop of what was begun last. Thread-safe.
class StopSwitch {
  public:
    /// For what begins now; stops that were asked for before do not concern it.
    void renew();
    std::stop_token token() const;
    void stop();

  private:
    mutable std::mutex m_mutex;
    std::stop_source m_source;
};

/// A token that is stopped as soon as one of two is.
class EitherStop {
  public:
    EitherStop(const std::stop_token& one, const std::stop_token& other)
        : m_one(one, Forward{m_source}), m_other(other, Forward{m_source}) {}
    std::stop_token token() const { return m_source.get_token(); }

  private:
    struct Forward {
        std::stop_source source;
        void operator()() { source.request_stop(); }
    };
    std::stop_source m_source;
    std::stop_callback<Forward> m_one, m_other;
};

/// Has `work(context)` called by the executor, and `done(result)` with what it returns on the session's thread. The
/// work is stopped by the executor or by `stop`.
template <typename Work, typename Done>
void start(Executor& executor, Activity activity, std::stop_token stop, Work work, Done done) {
    using R = std::invoke_result_t<Work&, const base::WorkContext&>;
    executor.start(activity,
                   [stop = std::move(stop), work = std::move(work),
                    done = std::move(done)](const base::WorkContext& context) mutable -> Executor::Deliver {
                       const EitherStop either(context.stop, stop);
                       auto result = std::make_shared<R>(work(base::WorkContext{either.token(), context.progress}));
                       return [result, done = std::move(done)]() mutable { done(std::move(*result)); };
                   });
}

}  // namespace sonde::session
