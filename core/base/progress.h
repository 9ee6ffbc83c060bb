#pragma once

#include <functional>
#include <stop_token>
#include <string>

namespace sonde::base {

/// How far a long piece of work is. `total` 0 means unknown.
struct Progress {
    std::string what;
    std::size_t done = 0;
    std::size_t total = 0;
};

/// Given to every core call that may take long: asked often whether to stop, told now and then how far it is.
/// Called on the thread that does the work.
struct WorkContext {
    std::stop_token stop;
    std::function<void(const Progress&)> progress;

    bool cancelled() const { return stop.stop_requested(); }
    void report(std::string what, std::size_t done = 0, std::size_t total = 0) const {
        if (progress) progress(Progress{std::move(what), done, total});
    }
};

}  // namespace sonde::base
