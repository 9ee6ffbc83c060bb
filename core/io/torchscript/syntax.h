#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/torchscript/source_ranges.h"

namespace sonde::io::script {

struct Keyword;

/// An expression of the serialised language (torch/csrc/jit/OVERVIEW.md; a subset of Python's).
struct Expression {
    // clang-format off
    enum class Kind : std::uint8_t {
        Name, Attribute, Call, Int, Float, String, True, False, None, List, Tuple, Dict, Subscript, Negative
    };
    // clang-format on
    Kind kind = Kind::None;
    std::string text;  ///< Name, Attribute: the name. String: its value
    std::int64_t integer = 0;
    double number = 0;
    /// Attribute: the object. Call: callee, then positional arguments. List, Tuple: items. Dict: key, value, key, …
    /// Subscript: object, indices. Negative: operand.
    std::vector<Expression> parts;
    std::vector<Keyword> keywords;  ///< Call
    int line = 0;
    std::uint32_t offset = 0;  ///< of its first byte in the source
};

/// NAME=VALUE in a call.
struct Keyword {
    std::string first;
    Expression second;
};

/// "torch.nn.functional" of attribute reads, one in the other, that start at a name; empty for anything else.
std::string dottedPath(const Expression& expression);

struct Statement {
    /// With only enters a context: what is done in there are the statements that follow it.
    enum class Kind : std::uint8_t { Assign, Evaluate, If, While, For, Return, Pass, With };
    Kind kind = Kind::Pass;
    std::vector<Expression> targets;  ///< Assign, With: what gets a value; several for `a, b = …`. For: the variable
    bool unpack = false;              ///< Assign: the value's elements go to the targets
    Expression value;  ///< Assign, Evaluate, Return; If, While: condition; For: what is iterated; With: the context
    std::vector<Statement> body;  ///< If: then
    std::vector<Statement> orElse;
    int line = 0;
    std::uint32_t offset = 0;
};

struct FunctionParameter {
    std::string name;
    std::string type;  ///< as written, "Optional[Tensor]"
    bool hasDefault = false;
    Expression fallback;
};

struct SourceUnit;

struct FunctionDef {
    std::string name;
    const SourceUnit* unit = nullptr;           ///< the file that it is in; set by the archive
    std::vector<FunctionParameter> parameters;  ///< of methods without self
    std::string self;                           ///< of methods: what their first parameter is called
    std::string result;                         ///< type as written
    std::vector<Statement> body;
};

struct ClassAttribute {
    std::string name;
    std::string type;
    bool isFinal = false;
    Expression value;  ///< of a Final
};

struct ClassDef {
    std::string name;
    std::string base;                     ///< "Module", "NamedTuple", "Enum", or empty
    std::vector<std::string> parameters;  ///< __parameters__
    std::vector<std::string> buffers;     ///< __buffers__
    std::vector<ClassAttribute> attributes;
    std::vector<FunctionDef> methods;
    const FunctionDef* method(std::string_view name) const;
};

/// One source file of an archive.
struct SourceUnit {
    std::shared_ptr<const SourceMap>
        source;  ///< its name in the archive, and the model's own source after it; set by the archive
    std::vector<ClassDef> classes;
    std::vector<FunctionDef> functions;
};

/// Parses a file. Errors name file and line. Nesting is bounded.
base::Result<SourceUnit> parseSource(std::string_view text, const std::string& file);

}  // namespace sonde::io::script
