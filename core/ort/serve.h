#pragma once

#include <filesystem>

namespace sonde::ort {

/// The work of the helper process: reads the request in `folder`, loads the library (which runs its code), runs the
/// model once on all threads that were asked for, without the library's optimisations, and leaves the values of the
/// requested outputs, the library's profile, and a reply there. Returns the exit status: 0 whenever there is a reply.
int serve(const std::filesystem::path& folder);

}  // namespace sonde::ort
