#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/executor.h"
#include "core/session/observer.h"
#include "core/session/read_inputs.h"

namespace sonde::session {

/// What the next run is given: a row for each input of the document. Specs are texts; their values are read in one
/// Activity::Read. See Session for threads.
class Inputs {
  public:
    Inputs(Executor& executor, Observer& observer) : m_executor(executor), m_observer(observer) {}

    const std::vector<Input>& all() const { return m_rows; }
    const Input* find(std::string_view name) const;
    const Input* of(graph::NodeId node) const;
    /// In the order of the graph's inputs; none for what is not given, or not read.
    std::vector<tensor::Value> values() const;
    /// Whether there is nothing to be read: each input has a value, an error, or nothing that it is to be read from.
    bool areRead() const;
    /// Whether each input has a value.
    bool areAllGiven() const;
    /// The first that cannot be given: unreadable, or in contradiction to the model or to other inputs.
    std::optional<base::Error> refusal() const;
    /// Gives each of the `needed` inputs that has nothing, and that the model cannot do without, the error that the
    /// command line has for it: "no value for input 'x'". forgetOutdated() takes it back.
    void refuseMissing(const std::vector<graph::NodeId>& needed);
    /// Whether an error of refusal() still is true: its input is given as it was, and is from a file that nobody
    /// changed.
    bool stillRefuse(const base::Error& error) const;
    /// All of it in the grammar of --input-data: "x:a.npy;mask:#rand(0,1)".
    std::string inputData() const;
    /// "x.npz changed on disk": of a value that was read from it. Does not look at the disk; empty if there is none.
    std::string changedFileText() const;

    /// The inputs of another document, each with what an input begins with. Tells nobody.
    void bind(std::shared_ptr<const document::Document> document);
    /// What an input was given before, in an earlier session: in place of what it begins with. Tells nobody.
    void restore(std::string_view name, const InputSpec& spec);
    /// An empty source: forgets what was given. An archive (.npz) fills every other input that it has an array for,
    /// too, once it is read. Usage error: there is no input of that name.
    base::Result<void> set(std::string_view name, const InputSpec& spec);
    /// The same of what a comparison is made on: what the inputs had before stays their Input::chosen().
    base::Result<void> lend(std::string_view name, const InputSpec& spec);
    /// An archive for the model as a whole: fills all inputs that it has arrays for, once it is read.
    void fillFrom(const std::string& archive);
    /// Values as they are, in the order of the document's inputs; none: not given.
    void setValues(const std::vector<tensor::Value>& values);
    /// Reads what is to be read: inputsChanged(), inputsRead(). Work for the executor.
    void read(std::stop_token stop = {});
    void abandonReading() { m_executor.abandon(Activity::Read); }
    /// What could not be read may be there by now, and what has changed on disk is read again. Tells nobody.
    void forgetOutdated();
    /// Looks at the files that inputs were read from; inputsChanged() tells of the first change.
    void checkFiles();

  private:
    void adopt(ReadInputsResult result);
    base::Result<void> change(std::string_view name, const InputSpec& spec);
    void tellOfArchive(const ArchiveChoice& archive, const ReadInputsResult& result);

    Executor& m_executor;
    Observer& m_observer;
    std::shared_ptr<const document::Document> m_document;
    std::vector<Input> m_rows;
    std::optional<ArchiveChoice> m_archive;  ///< until its arrays are with the inputs
    bool m_isLent = false;                   ///< that archive is a comparison's
    bool m_toldOfChange = false;
};

}  // namespace sonde::session
