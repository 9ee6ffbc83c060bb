#include "core/base/replaced_file.h"

namespace sonde::base {

namespace fs = std::filesystem;

Result<fs::path> placeToReplace(const fs::path& path) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);  // of what links lead to
    if (fs::exists(status) && !fs::is_regular_file(status))
        return runError("this is not a regular file: it cannot be replaced", path.string());
    if (!fs::is_symlink(fs::symlink_status(path, failed))) return path;
    fs::path place = fs::weakly_canonical(path, failed);
    if (failed) return runError("the link leads nowhere: " + failed.message(), path.string());
    return place;
}

}  // namespace sonde::base
