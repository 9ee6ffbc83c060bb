// The part of InspectorContext that makes signals of what its session tells.

#include "ui/context/comparison.h"
#include "ui/context/inspector_context.h"
#include "ui/context/problems.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

/// Events end here; verbs of the session are called by the context. On the UI thread.
class InspectorContext::Events : public session::Observer {
  public:
    explicit Events(InspectorContext& context) : m_context(context) {}

    void documentLeft() override { Q_EMIT m_context.documentLeft(); }
    void fileChanged(const base::Error& error, bool isNew) override { m_context.tellOfChangedFile(error, isNew); }
    void watchChanged() override {
        m_context.keep();
        Q_EMIT m_context.watchChanged();
    }
    void endChanged() override {
        m_context.keep();
        Q_EMIT m_context.endChanged();
    }
    void inputsChanged() override {
        m_context.takeInputs();
        Q_EMIT m_context.inputsChanged();
    }
    void inputsRead() override { m_context.watchInputFiles(); }
    void runStarted() override { m_context.beginRun(); }
    void typesChanged() override { Q_EMIT m_context.typesChanged(); }
    void runFinished() override { m_context.endRun(); }
    void valueArrived(NodeId node) override { Q_EMIT m_context.valueArrived(node); }
    void problemsChanged() override { Q_EMIT m_context.problems().changed(); }
    void comparisonChanged() override { m_context.comparison().follow(); }
    void told(const session::Notice& notice) override {
        m_context.report(Message{notice.severity, QString::fromStdString(notice.what), windowPlace(notice.where),
                                 windowHint(notice.hint), notice.node});
    }
    void failed(const base::Error& error) override { m_context.report(error); }

  private:
    InspectorContext& m_context;
};

std::unique_ptr<session::Observer> InspectorContext::makeEvents() { return std::make_unique<Events>(*this); }

}  // namespace sonde::context
