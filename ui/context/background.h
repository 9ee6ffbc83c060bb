#pragma once

#include <functional>
#include <memory>

namespace sonde::context {

/// Runs `work` on a worker thread; nobody hears of its end. The process waits for it before it ends.
void runInBackground(std::function<void()> work);

/// Lets go of `what` on a worker thread, after the events that are being handled: a large model takes longer to free
/// than a frame may last. Whoever shares it is to let go of it before.
void freeLater(std::shared_ptr<const void> what);

}  // namespace sonde::context
