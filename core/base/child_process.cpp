#include "core/base/child_process.h"

#include <cerrno>
#include <csignal>
#include <sys/wait.h>

extern char** environ;

namespace sonde::base {

ChildSettings::ChildSettings(bool hasOwnGroup) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&m_attributes);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&m_attributes, &none);
    ::posix_spawnattr_setsigdefault(&m_attributes, &all);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (hasOwnGroup) {
        ::posix_spawnattr_setpgroup(&m_attributes, 0);
        flags |= POSIX_SPAWN_SETPGROUP;
    }
    ::posix_spawnattr_setflags(&m_attributes, static_cast<short>(flags));
}

ChildSettings::~ChildSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&m_attributes);
}

int ChildSettings::start(std::vector<std::string> arguments, pid_t& process) const {
    std::vector<char*> texts;
    for (std::string& argument : arguments) texts.push_back(argument.data());
    texts.push_back(nullptr);
    return ::posix_spawn(&process, texts.front(), &actions, &m_attributes, texts.data(), environ);
}

void endChild(pid_t process) {
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace sonde::base
