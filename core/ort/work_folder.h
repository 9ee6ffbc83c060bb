#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace sonde::ort {

/// A folder for one run that only this user can read; goes with all that is in it.
class WorkFolder {
  public:
    WorkFolder() = default;
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    ~WorkFolder() {
        std::error_code ignored;
        if (!m_path.empty()) std::filesystem::remove_all(m_path, ignored);
    }

    /// Error (Run): it cannot be made.
    base::Result<void> make() {
        std::error_code code;
        std::string name = (std::filesystem::temp_directory_path(code) / "sonde-ort-").string() + std::string(6, 'X');
        if (code || !::mkdtemp(name.data())) return base::runError("no temporary folder can be made", name);
        m_path = name;
        return {};
    }
    const std::filesystem::path& path() const { return m_path; }

    /// Whether a file is in such a folder, with which it goes.
    static bool holds(const std::filesystem::path& file) {
        return file.parent_path().filename().string().starts_with("sonde-ort-");
    }

  private:
    std::filesystem::path m_path;
};

}  // namespace sonde::ort
