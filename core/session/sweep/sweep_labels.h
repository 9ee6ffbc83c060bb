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
    /// only the label, in the order of the inputs; of an empty line between them the input has none. An .npy of
    /// integers likewise. Errors: the file cannot be read; a line without a name, or some with and some without.
    static base::Result<SweepLabels> read(const std::filesystem::path& path);

    bool empty() const { return m_byName.empty() && m_inOrder.empty() && m_unlabelled.empty(); }
    /// Labels without names.
    std::size_t count() const { return m_inOrder.size(); }
    /// Of the `index`-th input; by its name, its file's name, or that without its suffix. Empty: it has none.
    std::string of(const std::string& input, std::size_t index) const;
    /// Why an input has none: "line 3 of the labels has no label", "the labels have no line for this input".
    std::string missing(const std::string& input, std::size_t index) const;

  private:
    template <typename Value>
    static const Value* find(const std::unordered_map<std::string, Value>& named, const std::string& input);

    std::unordered_map<std::string, std::string> m_byName;
    std::unordered_map<std::string, std::size_t> m_unlabelled;  ///< lines that have a name only
    std::vector<std::string> m_inOrder;
};

}  // namespace sonde::session
