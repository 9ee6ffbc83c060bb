#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace sonde::io {

/// What a user did with a model, for a file (.sonde): JSON with the keys of resources/help/session-files.md. Texts are
/// as they were given; what they mean is for who uses them.
struct SessionFile {
    static constexpr int kVersion = 1;
    static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;
    static constexpr std::size_t kMaxItems = 10'000;               ///< of each list
    static constexpr std::size_t kMaxName = 4'096;                 ///< bytes of a name or path
    static constexpr std::size_t kMaxText = std::size_t{1} << 16;  ///< bytes of a note, expression, value of the view
    static constexpr std::size_t kMaxDepth = 16;

    struct Model {
        std::string path;    ///< relative to the folder of the session, absolute, or "zoo:NAME"
        std::string sha256;  ///< 64 hexadecimal digits; empty of a built-in model
        std::uint64_t bytes = 0;
        std::string format;  ///< "ONNX", for people
        // How it is traced, as in document::OpenOptions.
        std::string tracer;
        std::vector<std::string> leaves;
        std::vector<std::string> concrete;  ///< NAME=VALUE
        bool flatten = false;
        bool groups = true;
        std::vector<std::string> passes;
        std::string weights;  ///< a file
        std::string example;  ///< input data

        bool operator==(const Model&) const = default;
    };
    /// A node by its name and module, and by what session::NodeIdentity::text() says of it.
    struct Node {
        std::string name, qualname, identity;
        bool operator==(const Node&) const = default;
    };
    struct Input {
        std::string name, source;
        std::string preset = "imagenet";  ///< of an image
        bool resize = true;
        bool operator==(const Input&) const = default;
    };
    struct Breakpoint {
        std::string where;
        std::string expression;  ///< the condition, which may be empty; of a log point what is written down
        bool isLog = false;
        bool isEnabled = true;
        std::string qualname;       ///< of a node the module that it came from
        std::uint64_t ignored = 0;  ///< so many hits do not stop it
        bool operator==(const Breakpoint&) const = default;
    };
    struct Group {
        std::string kind, text;
        int call = 0;
        bool operator==(const Group&) const = default;
    };
    struct Expression {
        std::string text;
        std::optional<Node> pin;
        bool isEnabled = true;
        bool operator==(const Expression&) const = default;
    };
    struct Note {
        Node node;
        std::string text;
        bool operator==(const Note&) const = default;
    };
    /// Of a value: see session::Edit.
    struct Edit {
        Node node;
        std::string slice, operation, text;
        double number = 0;
        std::uint64_t seed = 0;
        std::int64_t axis = 0;
        std::vector<std::int64_t> indices;
        std::int64_t parts = 0;
        bool isEnabled = true;
        bool operator==(const Edit&) const = default;
    };
    struct Policy {
        std::string keep;
        std::uint64_t budgetBytes = 0;
        std::uint64_t sample = 0;
        bool operator==(const Policy&) const = default;
    };
    /// What an element may be apart from the reference's: see analysis::Tolerances.
    struct Tolerances {
        std::optional<double> float32, relative, absolute;
        bool operator==(const Tolerances&) const = default;
    };

    /// The model that is compared side by side, and what was said by hand of the nodes of both.
    struct Compared {
        struct Pair {
            Node a, b;             ///< of the session's model, and of the other one
            bool isApart = false;  ///< they are no counterparts
            bool operator==(const Pair&) const = default;
        };
        std::string model;  ///< as Model::path; empty: none
        std::vector<Pair> pairs;
        bool operator==(const Compared&) const = default;
    };

    Model model;
    std::string inputData;            ///< of the command line; empty: `inputs`
    std::string inputPreset = "bgr";  ///< of images in it
    std::uint64_t seed = 0;
    std::vector<Input> inputs;
    std::vector<Node> watched, ends;
    std::vector<Group> groups;
    std::optional<Policy> policy;
    std::vector<Expression> expressions;
    std::vector<Breakpoint> breakpoints;
    std::vector<Note> notes;
    std::vector<Edit> edits;     ///< in order
    std::vector<Node> accepted;  ///< whose bad values are intended
    Tolerances tolerances;
    std::vector<std::string> references;  ///< files that the model was compared with, the last one first
    Compared compared;
    std::map<std::string, std::string> view;    ///< of the window
    std::map<std::string, std::string> others;  ///< keys of the file that are not known, with their JSON; are kept

    bool operator==(const SessionFile&) const = default;
};

/// Whether a file begins as a session file: an object whose first key is "format", "sonde-session".
bool looksLikeSession(std::span<const std::byte> head);

/// Errors (Unreadable): no JSON, with the position; a key that is missing, unknown, given twice or of a wrong type,
/// with its path: "breakpoints[3].where"; a newer version; more than the limits above.
base::Result<SessionFile> parseSession(std::string_view text);
base::Result<SessionFile> readSession(const std::filesystem::path& path);

/// The text of a file, with a line end.
std::string sessionText(const SessionFile& file);
/// Writes it atomically (writeAtomically). Nothing is written that parseSession() would refuse. Error (Usage): the file
/// is there and is no session file; (Run): it cannot be written.
base::Result<void> writeSession(const std::filesystem::path& path, const SessionFile& file);

/// Writes a file so that at any moment, whatever becomes of this process, there is what was there before or all of
/// `text`: to a temporary file in the same folder, which then takes its name. Permissions are kept; of a link the file
/// that it leads to is written. Error (Run): cannot be written, with the reason; nobody may write the file that is
/// there.
base::Result<void> writeAtomically(const std::filesystem::path& path, std::string_view text);

}  // namespace sonde::io
