#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"

namespace sonde::session {

/// What inputs are, as somebody else says: class indices or names.
class SweepLabels {
  public:
    /// Text with one line for each input: "cats/1.png,281" (comma or tab; a first line "input,label" is a title), or
    /// only the label, in the order of the inputs. An .npy of integers likewise. Errors: the file cannot be read; a
    /// line without a label.
    static base::Result<SweepLabels> read(const std::filesystem::path& path);

    bool empty() const { return m_byName.empty() && m_inOrder.empty(); }
    /// Labels without names.
    std::size_t count() const { return m_inOrder.size(); }
    /// Of the `index`-th input; by its name, its file's name, or that without its suffix. Empty: it has none.
    std::string of(const std::string& input, std::size_t index) const;

  private:
    std::unordered_map<std::string, std::string> m_byName;
    std::vector<std::string> m_inOrder;
};

}  // namespace sonde::session
