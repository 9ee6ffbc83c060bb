#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <utility>
#include <vector>

#include "core/document/document.h"
#include "core/layout/outline.h"
#include "core/session/session.h"
#include "ui/context/file_watch.h"

namespace sonde::session {
struct ModelInfo;
}

namespace sonde::context {

using graph::NodeId;

/// The model that is open in a window: its document, which of its graphs is shown, and what passes did to that. What
/// opens it is the Loader. Belongs to the UI thread.
class OpenModel : public QObject {
    Q_OBJECT
  public:
    explicit OpenModel(session::Session& session);

    bool isOpen() const { return document() != nullptr; }
    /// The open document; null if there is none.
    const std::shared_ptr<const document::Document>& document() const { return m_session.document(); }
    /// The document of the file itself, whichever of its graphs is shown.
    const std::shared_ptr<const document::Document>& whole() const { return m_session.whole(); }
    /// Only with a model. After a run its types are those for that run's inputs.
    const graph::InternalGraph& graph() const { return *sharedGraph(); }
    const std::shared_ptr<const graph::InternalGraph>& sharedGraph() const { return m_session.runs().graph(); }
    /// Boxes in boxes of the graph; null if there is no model.
    const std::shared_ptr<const layout::Outline>& outline() const { return m_outline; }
    /// Whether a file of the open model is no longer what was opened: its values mean nothing, and there are none until
    /// it is read again.
    bool fileHasChanged() const { return m_session.runs().fileHasChanged(); }
    /// What is known of it without its values, of graph(); null while that is being found out: see Summary.
    const std::shared_ptr<const session::ModelInfo>& summary() const { return m_summary; }
    /// What happened to it then: "model file changed on disk", or "model file can no longer be read from disk".
    QString fileProblem() const;

    /// Names of the graphs that can be shown: the model's, then those of modules that were traced apart.
    QStringList graphTitles() const;
    /// Which of them is shown.
    int shownGraph() const { return m_shownGraph; }
    /// The number of a module's own graph, or of the first of its children's if it could not be traced; -1: none.
    int graphOfModule(const QString& qualname) const;
    /// What passes did to the nodes of the graph that is shown: the model's own, or the one before them.
    enum class PassMark { Removed, Added, Changed };
    std::vector<std::pair<NodeId, PassMark>> passMarks() const;
    /// The number of the graph before passes; -1: there were none.
    int graphBeforePasses() const;
    /// One of the graphs as a document; null if there is no such graph.
    std::shared_ptr<const document::Document> documentOfGraph(int graph) const;

    /// By the loader: `outline` is that of the document, of which `graph` is shown.
    void setShown(std::shared_ptr<const layout::Outline> outline, int graph);
    /// By the Summary.
    void setSummary(std::shared_ptr<const session::ModelInfo> summary);
    /// By the loader: another file is open, or none. Which graphs there are is found again, and its files are watched.
    void followFile();

  public Q_SLOTS:
    /// Looks at the model's files on the disk: whether they are what was opened. To be asked after reading a value and
    /// before showing it. The first time that they are not, every value goes and fileChanged() tells.
    bool checkFiles() { return m_session.runs().checkFiles(); }

  Q_SIGNALS:
    /// The document is about to go, for another one or for good. It is there for the last time: let go of what is kept
    /// of it.
    void documentLeft();
    /// A document is there: everything else (view, inputs, watches) is already that of the new one.
    void documentOpened();
    void documentClosed();
    /// graph() has other types: those of the inputs that a run was given. Comes before Runs::runFinished().
    void typesChanged();
    /// summary() is there, or another one, or gone.
    void summaryChanged();
    /// The open file, or one that it takes its weights from, has another content than when it was read.
    void fileChanged();

  private:
    session::Session& m_session;
    std::shared_ptr<const layout::Outline> m_outline;
    /// What follows the model's own graph: the parts that have graphs, by number; kBeforePasses.
    std::vector<int> m_graphs;
    static constexpr int kBeforePasses = -1;
    int m_shownGraph = 0;
    std::shared_ptr<const session::ModelInfo> m_summary;
    FileWatch m_fileWatch;
};

}  // namespace sonde::context
