#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/problem.h"
#include "core/base/result.h"

namespace sonde::session {

/// Problems as they are printed and saved: the verb and the window write the same bytes.
struct ProblemReport {
    std::string title;  ///< of the model
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<analysis::Problem> problems;

    std::size_t errorCount() const;
    /// A line for each problem and one with their number; control characters are made visible.
    std::string text() const;
    /// {"format":"sonde-problems","version":1,"problems":[…]}, see the help page on problems.
    std::string json() const;
    /// A test suite with one test case for each problem, failed if it is an error; one that passed if there is none.
    std::string junit() const;
    /// JUnit XML if the name ends in .xml, JSON if in .json, else text. Error: the file cannot be written.
    base::Result<void> write(const std::string& path) const;

    /// Empty of a problem that no node has.
    std::string nameOf(const analysis::Problem& problem) const;
};

/// Error: the file cannot be written.
base::Result<void> writeText(const std::string& text, const std::string& path);

}  // namespace sonde::session
