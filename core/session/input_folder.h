#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::session {

class Session;

/// Files of one kind in one folder, which an input is given one after the other. Names are in the order in which a
/// person counts: "2.png" is before "10.png".
struct InputFolder {
    std::string folder;
    std::vector<std::string> names;

    static constexpr std::size_t kMaxFiles = 100'000;

    std::string path(std::size_t index) const;
    /// The position of the file of an item; nothing: it is not of this folder.
    std::optional<std::size_t> find(std::string_view item) const;
};

/// The file of an item of a specification, without what stands behind it; empty: it has none, or several.
std::string fileOfItem(std::string_view item);
/// The item with another file, which keeps what stands behind it, such as a rate and noise.
std::string withFile(std::string_view item, const std::string& path);

/// The files beside `path` of its kind (all images, all arrays…), or in it, if it is a folder, those of the kind of its
/// first file that is expected to give a value. Blocks, on any thread. Errors: Usage: the folder has none, or too many;
/// Unreadable: it cannot be listed; cancelled.
base::Result<InputFolder> inputFolder(const std::string& path, std::stop_token stop = {});

/// Gives an input the file that is `by` places further in the folder of its present one. Errors (Usage): there is no
/// such input, it has no file, or that was the last one.
base::Result<void> stepInputFile(Session& session, std::string_view input, std::ptrdiff_t by);

}  // namespace sonde::session
