#pragma once

#include <array>
#include <memory>

#include "core/session/executor.h"
#include "ui/context/job.h"

namespace sonde::context {

/// Does the work of a session on worker threads: a Job for each kind. Belongs to the UI thread, which never waits.
class JobExecutor : public session::Executor {
  public:
    void start(session::Activity activity, Task task) override;
    void abandon(session::Activity activity) override { job(activity).abandon(); }
    bool isActive(session::Activity activity) const override { return job(activity).isActive(); }
    void discard(std::shared_ptr<const void> what) override;
    /// Whether there is work of any kind.
    bool isBusy() const;
    /// For how far it is.
    Job& job(session::Activity activity) { return m_jobs[static_cast<std::size_t>(activity)]; }

  private:
    const Job& job(session::Activity activity) const { return m_jobs[static_cast<std::size_t>(activity)]; }

    std::array<Job, session::kActivityCount> m_jobs;
};

}  // namespace sonde::context
