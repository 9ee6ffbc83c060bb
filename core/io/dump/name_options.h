#pragma once

namespace sonde::io::dump {

/// Which names a file keeps.
struct NameOptions {
    bool nodes = true;        ///< else those of outputs only, the rest are numbers
    bool operations = false;  ///< the file's own names of operations
    bool parameters = false;  ///< names of weights, so that their values can be replaced
};

}  // namespace sonde::io::dump
