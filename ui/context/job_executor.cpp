#include "ui/context/job_executor.h"

#include <algorithm>

#include "ui/context/background.h"

namespace sonde::context {

void JobExecutor::start(session::Activity activity, Task task) {
    job(activity).start(std::move(task), [](const Deliver& deliver) { deliver(); });
}

void JobExecutor::discard(std::shared_ptr<const void> what) { freeLater(std::move(what)); }

bool JobExecutor::isBusy() const { return std::ranges::any_of(m_jobs, &Job::isActive); }

}  // namespace sonde::context
