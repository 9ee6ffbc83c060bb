#pragma once

namespace sonde::io::dump {

/// Which names and numbers a file keeps beside the graph itself.
struct NameOptions {
    bool nodes = true;        ///< else those of outputs only, the rest are numbers
    bool operations = false;  ///< the file's own names of operations
    bool parameters = false;  ///< names of weights, so that their values can be replaced
    bool priorities = false;  ///< of operations: their number in the order in which they run, from 1 on
};

}  // namespace sonde::io::dump
