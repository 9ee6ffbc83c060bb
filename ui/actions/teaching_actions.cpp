#include "ui/actions/action_table.h"

namespace sonde::actions {

/// Showing a model to others.
std::vector<ActionInfo> teachingActions() {
    return {
        {"present.toggle", "&Present", "View/Presentation-",
         "Show one graph and one value in large text, to be gone through layer by layer; Esc ends it", "present", "F4",
         Scope::Window, Need::Model, true},
        {"present.next", "&Next Layer", "View/Presentation", "Present the next layer in the order of execution", "next",
         "PgDown", Scope::Window, Need::Model},
        {"present.previous", "P&revious Layer", "View/Presentation", "Present the layer before", "previous", "PgUp",
         Scope::Window, Need::Model},
        {"present.first", "&First Layer", "View/Presentation", "Present the input", "up", "Home", Scope::Window,
         Need::Model},
        {"present.last", "&Last Layer", "View/Presentation", "Present the output", "output", "End", Scope::Window,
         Need::Model},
        {"present.spotlight", "&Spotlight", "View/Presentation-", "Dim everything but the presented layer", "spotlight",
         "S", Scope::Window, Need::Model, true},
        {"present.pointer", "P&ointer", "View/Presentation", "Show a large point where the mouse is", "pointer", "P",
         Scope::Window, Need::Model, true},
        {"present.pen", "&Draw", "View/Presentation", "Draw on the presented layer with the mouse", "edit", "D",
         Scope::Window, Need::Model, true},
        {"present.erase", "&Erase Drawing", "View/Presentation", "Erase what was drawn on all layers", "clear", "E",
         Scope::Window, Need::Model},
        {"present.black", "&Black Screen", "View/Presentation", "Turn the window black, or show it again", "stop",
         "B .", Scope::Window, Need::Model, true},
    };
}

std::vector<ActionInfo> lessonActions() {
    return {
        {"help.lessons", "&Lessons", "Help/Lessons", "List the lessons: how a convolution sees, attention, and others",
         "list", "Alt+Shift+F1"},
        {"lesson.open", "&Open Lesson…", "Help/Lessons", "Open a lesson from a file (Markdown)", "open",
         "Alt+Shift+F2"},
        {"lesson.next", "&Next Step", "Help/Lessons-", "Go on to the next step of the lesson", "forward", "Alt+PgDown"},
        {"lesson.previous", "&Previous Step", "Help/Lessons", "Go back to the step before", "back", "Alt+PgUp"},
        {"lesson.close", "&Close Lesson", "Help/Lessons", "Close the lesson; what its step changed is taken back",
         "close", "Alt+Shift+F4"},
    };
}

}  // namespace sonde::actions
