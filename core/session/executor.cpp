#include "core/session/executor.h"

namespace sonde::session {

void InlineExecutor::start(Activity activity, Task task) {
    bool& active = m_active[static_cast<std::size_t>(activity)];
    active = true;
    const Deliver deliver = task(m_work);
    active = false;
    deliver();
}

void StopSwitch::renew() {
    const std::lock_guard lock(m_mutex);
    m_source = std::stop_source();
}

std::stop_token StopSwitch::token() const {
    const std::lock_guard lock(m_mutex);
    return m_source.get_token();
}

void StopSwitch::stop() {
    std::stop_source source;
    {
        const std::lock_guard lock(m_mutex);
        source = m_source;
    }
    source.request_stop();  // outside of the lock: callbacks run in here
}

}  // namespace sonde::session
