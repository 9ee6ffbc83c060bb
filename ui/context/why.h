#pragma once

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

#include "core/session/repeated_run.h"
#include "core/session/why/chain.h"
#include "core/session/why/contributions.h"
#include "core/session/why/receptive_field.h"
#include "ui/context/debugger.h"
#include "ui/context/job.h"
#include "ui/context/navigation.h"
#include "ui/context/runs.h"

namespace sonde::context {

/// "Why this value", for views: the element that is asked about, the hops that led to it, and what it is made of in the
/// run that all views show; of the element that was asked about first, also which elements of other values reach it.
/// All is found in the background, again with each run. Belongs to the UI thread.
class Why : public QObject {
    Q_OBJECT
  public:
    using Place = session::why::Place;
    /// An element on the way, and what is known of it.
    struct Hop {
        Place place;
        std::optional<session::why::Explanation> explanation = {};
        std::optional<base::Error> error = {};
        QString end = {};                      ///< why the chain of largest terms ends here; empty: it goes on
        bool isOrigin = false;                 ///< NaN, infinity or the difference from the reference is made here
        std::optional<double> reference = {};  ///< what the element is there, on the way along what differs
        bool isBaseline = false;               ///< there: in the run without the edits
    };

    Why(session::Session& session, Debugger& debugger, Runs& runs, Navigation& navigation, OpenModel& model);
    ~Why() override;

    bool isAsked() const { return !m_trail.empty(); }
    /// All hops; the one that is looked at is position().
    const std::vector<Hop>& trail() const { return m_trail; }
    int position() const { return m_at; }
    const Hop* current() const { return isAsked() ? &m_trail[static_cast<std::size_t>(m_at)] : nullptr; }
    bool canGoBack() const { return m_at > 0; }
    bool canGoForward() const { return m_at + 1 < static_cast<int>(m_trail.size()); }
    /// What the current element is made of is being found out, or the way to the end.
    bool isLooking() const { return m_step == Step::Explain || m_step == Step::Chain; }
    /// What reaches the first element is being found out.
    bool isTracing() const { return m_step == Step::Trace; }
    bool isBusy() const { return m_job.isActive(); }

    /// The elements of a value that reach the first one; null if none do, or it is not known.
    const session::why::Box* fieldOf(NodeId node) const;
    /// The parts that the elements of an input have in the first one; null likewise.
    const session::why::Share* shareOf(NodeId node) const;
    const session::why::Contributions* contributions() const { return m_contributions ? &*m_contributions : nullptr; }
    /// Why that is not known.
    const std::optional<base::Error>& traceError() const { return m_traceError; }

    /// "conv1[0, 3, 10, 10]".
    QString text(const Place& place) const;

    /// The element that is pointed at in a value view, for ask(node).
    void setPointed(const Place& place, std::optional<std::size_t> iteration);
    const std::optional<Place>& pointed() const { return m_pointed; }

  public Q_SLOTS:
    /// Begins a new way, in a loop in that iteration. Without an index: at the element that stands out.
    void ask(const sonde::session::why::Place& place, std::optional<std::size_t> iteration = {});
    /// About the element of the node that is pointed at, or the one that stands out.
    void askAbout(sonde::graph::NodeId node);
    /// To an element that the current one is made of. The selection follows, here and below.
    void hop(const sonde::session::why::Place& place);
    void goTo(int position);
    void goBack() { goTo(m_at - 1); }
    void goForward() { goTo(m_at + 1); }
    /// Hops from the current element to the term that differs most from the baseline or the reference, if there is one,
    /// else to its largest term, and so on, as far as that goes.
    void followLargest();
    /// What could not be found out is tried again.
    void retry();
    void cancel();
    /// Nothing is asked any more.
    void clear();

  Q_SIGNALS:
    /// The way, the current element or what is known of it.
    void changed();
    /// A new way begins, as a user asked for it.
    void asked();
    /// What reaches the first element.
    void fieldChanged();
    void progressed(const sonde::base::Progress& progress);

  private:
    enum class Step { None, Explain, Chain, Trace };
    /// Which run values are of, and where that is.
    struct Shown {
        bool isDebugged = false;
        const void* run = nullptr;
        session::debug::ItemId item = session::debug::kNoItem;
        bool isEnd = false;
        bool operator==(const Shown&) const = default;
    };
    struct Traced;

    Shown shown() const;
    void follow();
    void forgetAnswers();
    void dropWork();
    void next();
    void explain();
    void followChain();
    void trace();
    void takeChain(session::why::Chain chain, bool isBaseline);
    void take(Hop& hop, session::why::Explanation explanation);
    void fail(const base::Error& error);
    void show(const Place& place);
    template <typename Work, typename Done>
    void look(Step step, Work work, Done done);

    session::Session& m_session;
    Debugger& m_debugger;
    Navigation& m_navigation;
    Job m_job;
    std::shared_ptr<session::RepeatedRun> m_again;  ///< of a run that is not debugged
    std::vector<Hop> m_trail;
    int m_at = 0;
    std::optional<std::size_t> m_iteration, m_pointedIteration;
    std::optional<Place> m_pointed;
    Step m_step = Step::None;
    quint64 m_number = 0;  ///< of the work that goes on; results of others are dropped
    bool m_wantsChain = false;
    std::optional<session::why::ReceptiveField> m_field;
    std::optional<session::why::Contributions> m_contributions;
    std::optional<base::Error> m_traceError;
    Shown m_shown;
};

}  // namespace sonde::context
