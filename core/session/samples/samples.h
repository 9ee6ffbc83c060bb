#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::session {

/// What one input of a sample is given.
struct SampleInput {
    std::string name;    ///< of the input; empty: the first
    std::string source;  ///< as InputSpec::source
    std::string preset;  ///< of io::imagePresets(), if the source is a picture
};

/// A model with input to run it on, that comes with Sonde.
struct Sample {
    std::string id;           ///< of scripts and commands
    std::string title;        ///< "Digits: draw one"
    std::string description;  ///< what it is, and how accurate
    std::string next;         ///< what to do in the window once it is open
    std::string model;        ///< path or zoo:NAME
    std::vector<SampleInput> inputs;
    std::string picture;  ///< file with its picture; empty: `icon`
    std::string icon;     ///< name of an icon
    bool runs = false;    ///< when it is opened, as its output means something
};

/// Those whose files are there, trained ones first. `program`: the folder of the program, beside which they are.
std::vector<Sample> samples(const std::filesystem::path& program);

/// Folders where resources/ is looked for, in this order.
std::vector<std::string> resourceFolders(const std::filesystem::path& program);

/// A file or folder of resources/, in the source tree or where it was installed; empty if it is not there.
std::string resourcePath(const std::filesystem::path& program, std::string_view relative);

}  // namespace sonde::session
