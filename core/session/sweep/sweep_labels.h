#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/session/sweep/sweep_inputs.h"

namespace sonde::session {

/// What inputs are, as somebody else says: class indices or names.
class SweepLabels {
  public:
    /// Text with one line for each input: "cats/1.png,281" (comma or tab, names with either in quotes as RFC 4180 has
    /// them: "say ""hi"".png",281; a first line "input,label" is a title), or only the label, in the order of the
    /// inputs; of an empty line between them the input has none. A batch has a label for each sample, with spaces
    /// between: "batch.npy,281 285". An .npy of integers likewise: [inputs], or [inputs, samples]. Errors: the file
    /// cannot be read; a line without a name, or some with and some without; a name that an earlier line has.
    static base::Result<SweepLabels> read(const std::filesystem::path& path);

    /// Errors (Usage): more labels than inputs; a first line that looked like a title, but names an input.
    base::Result<void> checkFor(const std::vector<SweepInput>& inputs) const;

    /// Labels without names.
    std::size_t count() const { return m_inOrder.size(); }
    bool empty() const { return m_byName.empty() && m_inOrder.empty(); }
    /// Of the `index`-th input; by its name, its file's name, or that without its suffix. Empty: it has none.
    std::string of(const std::string& input, std::size_t index) const;
    /// Where of() is from: "line 3 of the labels".
    std::string place(const std::string& input, std::size_t index) const;
    /// Why an input has none: "line 3 of the labels has no label", "the labels have no line for this input".
    std::string missing(const std::string& input, std::size_t index) const;
    /// What no input gets, line by line: "line 4 of the labels is for 'none.npy', which is no input of the sweep".
    std::vector<std::string> unused(const std::vector<SweepInput>& inputs) const;

  private:
    struct Entry {
        std::string label;     ///< empty: none
        std::size_t line = 0;  ///< from 1; of an array the position of the label
    };
    using Named = std::unordered_map<std::string, Entry>;

    base::Result<void> addLine(const std::string& name, Entry entry, const std::filesystem::path& path);
    Named::const_iterator find(const std::string& input) const;

    Named m_byName;
    std::vector<Entry> m_inOrder;
    std::filesystem::path m_path;
    std::string m_titleName, m_titleLabel;  ///< of a first line whose label is a word
    bool m_isArray = false;
};

/// "281 285" → {"281", "285"}: one for each sample.
std::vector<std::string> labelsOfSamples(const std::string& label);

}  // namespace sonde::session
