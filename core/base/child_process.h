#pragma once

#include <spawn.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sonde::base {

/// How a helper program is started: with no signal blocked or ignored, whatever this process does with them. What its
/// input and output are is added to `actions` before.
class ChildSettings {
  public:
    /// `hasOwnGroup`: Ctrl-C in a terminal does not reach it.
    explicit ChildSettings(bool hasOwnGroup = false);
    ~ChildSettings();
    ChildSettings(const ChildSettings&) = delete;
    ChildSettings& operator=(const ChildSettings&) = delete;

    /// Starts `arguments[0]`. 0 and the process, or the errno that says why not.
    int start(std::vector<std::string> arguments, pid_t& process) const;

    posix_spawn_file_actions_t actions;

  private:
    posix_spawnattr_t m_attributes;
};

/// Ends a process of ours at once and waits until it is gone.
void endChild(pid_t process);

}  // namespace sonde::base
