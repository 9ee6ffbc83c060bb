#include "ui/actions/action_table.h"

namespace sonde::actions {
namespace {

std::vector<ActionInfo> fileActions() {
    return {
        {"file.open", "&Open…", "File", "Open a model file", "open", "Ctrl+O"},
        {"file.open_builtin", "Open &Built-in Model…", "File", "Open one of the models that come with Sonde", "module",
         "Ctrl+Alt+O"},
        {"file.new_window", "New &Window", "File", "Open another window beside this one", "window", "Ctrl+Shift+O"},
        {"file.beside", "Open Besi&de", "File", "Show the same model in a second window with linked selection", "window",
         "Ctrl+Alt+N", Scope::Window, Need::Model},
        {"file.link", "&Link Selection", "File", "Select the same node in the other windows that are linked", "link",
         "Ctrl+Alt+S", Scope::Window, Need::Nothing, true},
        {"file.reload", "&Reload", "File", "Read the model file again and keep view, watches and expansion", "reload",
         "Ctrl+R", Scope::Window, Need::Model},
        {"file.close", "&Close", "File", "Close the model", "close", "Ctrl+W Ctrl+F4", Scope::Window, Need::Model},
        {"file.save_values", "&Save Values…", "File-", "Save the watched values and the outputs of the last run as .npz",
         "save", "Ctrl+S", Scope::Window, Need::Values},
        {"file.export_png", "&PNG…", "File/Export Picture", "Save the picture of the graph as PNG", "image",
         "Ctrl+Shift+E", Scope::Window, Need::Model},
        {"file.export_svg", "&SVG…", "File/Export Picture", "Save the picture of the graph as SVG, text as text", "export",
         "Ctrl+Alt+E", Scope::Window, Need::Model},
        {"file.export_pdf", "P&DF…", "File/Export Picture", "Save the picture of the graph as PDF", "export", "Ctrl+Alt+P",
         Scope::Window, Need::Model},
        {"file.export_dot", "D&OT…", "File/Export Picture", "Save the graph as a Graphviz file", "graph", "Ctrl+Alt+G",
         Scope::Window, Need::Model},
        {"file.export_table", "&Node Table (CSV)…", "File/Export Picture", "Save the rows of the node table as CSV", "table",
         "Ctrl+Alt+C", Scope::Window, Need::Model},
        {"file.copy_picture", "&Copy Picture", "File/Export Picture", "Copy what the canvas shows to the clipboard",
         "copy", "Ctrl+Shift+C", Scope::Window, Need::Model},
        {"file.print", "&Print…", "File", "Print the graph", "print", "Ctrl+P", Scope::Window, Need::Model},
        {"file.properties", "&Model Properties", "File-", "Show what the file says about the model", "info", "Ctrl+Return",
         Scope::Window, Need::Model},
        {"file.settings", "S&ettings…", "File", "Change look, keys and behaviour", "settings", "Ctrl+,"},
        {"file.quit", "&Quit", "File-", "Close every window of Sonde", "quit", "Ctrl+Q"},
    };
}

std::vector<ActionInfo> editActions() {
    return {
        {"edit.find", "&Find…", "Edit", "Search nodes by name, module and operator", "search", "Ctrl+F", Scope::Window,
         Need::Model},
        {"edit.find_next", "Find &Next", "Edit", "Select the next node that was found", "next", "F3", Scope::Window,
         Need::Model | Need::SearchHits},
        {"edit.find_previous", "Find &Previous", "Edit", "Select the previous node that was found", "previous", "Shift+F3",
         Scope::Window, Need::Model | Need::SearchHits},
        {"edit.go_to", "&Go to Node…", "Edit", "Go to a node by its name or number", "go-to", "Ctrl+G", Scope::Window,
         Need::Model},
        {"edit.copy_name", "&Copy Name", "Edit-", "Copy the names of what is selected", "copy", "Ctrl+C", Scope::Canvas,
         Need::Model | Need::Selection},
        {"edit.select_all", "Select &All", "Edit", "Select every node that is shown", "grid", "Ctrl+A", Scope::Canvas,
         Need::Model},
        {"edit.clear_selection", "Clear &Selection", "Edit", "Clear the selection, or the search if there is one", "clear",
         "Esc", Scope::Canvas, Need::Model},
    };
}

std::vector<ActionInfo> viewActions() {
    return {
        {"view.fit", "&Fit", "View", "Show the whole graph", "fit", "Space", Scope::Canvas, Need::Model},
        {"view.fit_selection", "Fit &Selection", "View", "Show what is selected as large as it fits", "expand",
         "Shift+Space", Scope::Canvas, Need::Model | Need::Selection},
        {"view.zoom_in", "Zoom &In", "View", "Make the graph larger", "zoom-in", "Ctrl++ Ctrl+=", Scope::Window,
         Need::Model},
        {"view.zoom_out", "Zoom &Out", "View", "Make the graph smaller", "zoom-out", "Ctrl+-", Scope::Window, Need::Model},
        {"view.zoom_reset", "&Actual Size", "View", "Show the graph at its own size", "zoom-reset", "Ctrl+0",
         Scope::Window, Need::Model},
        {"view.toggle_expanded", "&Expand or Collapse", "View/Expand", "Open or close the selected module in place",
         "module", "Return Enter", Scope::Canvas, Need::Model | Need::Selection},
        {"view.expand_all", "Expand All &Inside", "View/Expand", "Open the selected module and everything in it",
         "expand-all", "Shift+Return", Scope::Canvas, Need::Model},
        {"view.collapse_all", "&Collapse All Inside", "View/Expand", "Close the selected module and everything in it",
         "collapse-all", "Ctrl+Shift+Return", Scope::Canvas, Need::Model},
        {"view.depth_0", "To Depth &0", "View/Expand-", "Close every module", "depth", "Ctrl+Shift+0", Scope::Window,
         Need::Model},
        {"view.depth_1", "To Depth &1", "View/Expand", "Open the outermost modules", "depth", "Ctrl+Shift+1",
         Scope::Window, Need::Model},
        {"view.depth_2", "To Depth &2", "View/Expand", "Open modules two levels deep", "depth", "Ctrl+Shift+2",
         Scope::Window, Need::Model},
        {"view.depth_3", "To Depth &3", "View/Expand", "Open modules three levels deep", "depth", "Ctrl+Shift+3",
         Scope::Window, Need::Model},
        {"view.direction", "&Direction Left to Right", "View-", "Draw the graph from left to right, not top down",
         "direction", "Ctrl+K", Scope::Window, Need::Model, true},
        {"view.attributes", "Show A&ttributes", "View", "Show attributes on the nodes", "list", "Ctrl+D", Scope::Window,
         Need::Model, true},
        {"view.weights", "Show &Weights", "View", "Show weights and constants as nodes", "tensor", "Ctrl+I", Scope::Window,
         Need::Model, true},
        {"view.names", "Show &Names", "View", "Show generated names beside qualnames", "node", "Ctrl+U", Scope::Window,
         Need::Model, true},
        {"view.wheel_zooms", "&Mouse Wheel Zooms", "View", "Zoom with the wheel alone; off: the wheel scrolls and Ctrl+wheel zooms",
         "zoom-in", "Ctrl+M", Scope::Window, Need::Nothing, true},
        {"view.minimap", "O&verview Map", "View", "Show the overview map in the corner of the canvas", "minimap",
         "Ctrl+Shift+M", Scope::Window, Need::Nothing, true},
        {"view.fold", "Fold Equal &Blocks", "View-", "Draw equal blocks in a row as one, with their number", "collapse",
         "Ctrl+Alt+F", Scope::Window, Need::Model, true},
        {"view.edge_widths", "Edge Width by Si&ze", "View", "Draw edges as wide as the tensors on them are large", "line",
         "Ctrl+Alt+W", Scope::Window, Need::Nothing, true},
        {"view.legend", "Le&gend", "View", "Show what colours and marks mean", "info", "Ctrl+Shift+L", Scope::Window,
         Need::Nothing, true},
        {"view.color_category", "&Category", "View/Colour By", "Colour operations by what they are", "theme", "Ctrl+Alt+1",
         Scope::Window, Need::Nothing, true},
        {"view.color_module", "&Module", "View/Colour By", "Colour operations by the module that they are from", "module",
         "Ctrl+Alt+2", Scope::Window, Need::Nothing, true},
        {"view.color_op", "&Operator", "View/Colour By", "Colour operations by their operator", "node", "Ctrl+Alt+3",
         Scope::Window, Need::Nothing, true},
        {"view.color_dtype", "&Type", "View/Colour By", "Colour operations by the type of their result", "tensor", "Ctrl+Alt+4",
         Scope::Window, Need::Nothing, true},
        {"view.color_time", "T&ime", "View/Colour By", "Colour operations by their time in the last run", "clock", "Ctrl+Alt+5",
         Scope::Window, Need::Nothing, true},
        {"view.color_bytes", "Memo&ry", "View/Colour By", "Colour operations by the memory of their results", "grid", "Ctrl+Alt+6",
         Scope::Window, Need::Nothing, true},
        {"view.color_parameters", "&Parameters", "View/Colour By", "Colour operations by the number of their weights", "histogram",
         "Ctrl+Alt+7", Scope::Window, Need::Nothing, true},
        {"view.color_readers", "Rea&ders", "View/Colour By", "Colour operations by how many read their results", "consumer",
         "Ctrl+Alt+8", Scope::Window, Need::Nothing, true},
        {"view.color_class", "C&lass", "View/Colour By", "Colour operations by the class of their module", "tree", "Ctrl+Alt+9",
         Scope::Window, Need::Nothing, true},
        {"view.theme", "Toggle &Light and Dark", "View-", "Change between the light and the dark look", "theme",
         "Ctrl+Shift+T"},
        {"view.text_larger", "Te&xt Larger", "View", "Make all text of the window larger", "add", "Ctrl+Alt++ Ctrl+Alt+="},
        {"view.text_smaller", "Text Smalle&r", "View", "Make all text of the window smaller", "remove", "Ctrl+Alt+-"},
        {"view.reset_layout", "Reset &Panels", "View", "Put every panel back where it was at first", "window",
         "Ctrl+Alt+0"},
        {"view.full_screen", "Full S&creen", "View", "Give the whole screen to the window", "full-screen", "Alt+Return",
         Scope::Window, Need::Nothing, true},
    };
}

std::vector<ActionInfo> goActions() {
    std::vector<ActionInfo> rows{
        {"go.back", "&Back", "Go", "Go back to what was selected before", "back", "Alt+Left", Scope::Window,
         Need::Model | Need::CanGoBack},
        {"go.forward", "&Forward", "Go", "Go forward again", "forward", "Alt+Right", Scope::Window,
         Need::Model | Need::CanGoForward},
        {"go.parent", "To &Module", "Go", "Select the module around the selection", "up", "Alt+Up", Scope::Window,
         Need::Model | Need::Selection},
        {"go.leave", "&Leave Module", "Go", "Select and close the module around the selection", "collapse", "Backspace",
         Scope::Canvas, Need::Model | Need::Selection},
        {"go.producer", "To &Producer", "Go-", "Select what makes the selected value's inputs", "producer", "Ctrl+Up",
         Scope::Window, Need::Model | Need::Selection},
        {"go.consumer", "To &Consumer", "Go", "Select what reads the selected value", "consumer", "Ctrl+Down",
         Scope::Window, Need::Model | Need::Selection},
        {"go.walk_up", "Walk &Up", "Go/Walk", "Follow an edge upwards in the picture", "up", "Up", Scope::Canvas,
         Need::Model},
        {"go.walk_down", "Walk &Down", "Go/Walk", "Follow an edge downwards in the picture", "next", "Down", Scope::Canvas,
         Need::Model},
        {"go.walk_left", "Walk &Left", "Go/Walk", "Go to what stands to the left", "back", "Left", Scope::Canvas,
         Need::Model},
        {"go.walk_right", "Walk &Right", "Go/Walk", "Go to what stands to the right", "forward", "Right", Scope::Canvas,
         Need::Model},
        {"go.next_instance", "Ne&xt Equal Block", "Go-", "Show the next of the equal blocks around the selection", "next",
         "Ctrl+PgDown", Scope::Window, Need::Model | Need::Run},
        {"go.previous_instance", "Previous &Equal Block", "Go", "Show the previous of the equal blocks around the selection",
         "previous", "Ctrl+PgUp", Scope::Window, Need::Model | Need::Run},
        {"go.other_end", "&Other End of the Edge", "Go", "Go from a link to what it stands for, or to what reads it elsewhere",
         "link", "Ctrl+E", Scope::Canvas, Need::Model | Need::Selection},
        {"focus.upstream", "What It &Needs", "View/Show Only", "Draw only what the selection needs", "producer", "Ctrl+Alt+Up",
         Scope::Window, Need::Model | Need::Selection},
        {"focus.downstream", "What Needs &It", "View/Show Only", "Draw only what needs the selection", "consumer",
         "Ctrl+Alt+Down", Scope::Window, Need::Model | Need::Selection},
        {"focus.around", "&Both", "View/Show Only", "Draw only what the selection needs and what needs it", "link",
         "Ctrl+Alt+Right", Scope::Window, Need::Model | Need::Selection},
        {"focus.paths", "&Paths Between", "View/Show Only", "Draw only the ways between the selected nodes", "graph",
         "Ctrl+Alt+J", Scope::Window, Need::Model | Need::Several},
        {"focus.isolate", "The &Selection", "View/Show Only", "Draw only what is selected", "node", "Ctrl+Alt+I", Scope::Window,
         Need::Model | Need::Selection},
        {"focus.hide", "&Hide Selection", "View/Show Only-", "Leave out what is selected", "remove", "Ctrl+H", Scope::Window,
         Need::Model | Need::Selection},
        {"focus.hide_operator", "Hide All of This &Operator", "View/Show Only", "Leave out every operation like the selected one",
         "remove", "Ctrl+Alt+H", Scope::Window, Need::Model | Need::Selection},
        {"focus.everything", "Show &Everything", "View/Show Only", "Draw everything again", "grid", "Ctrl+Shift+H", Scope::Window,
         Need::Model | Need::LeftOut},
        {"go.own_graph", "Module's Own &Graph", "Go-", "Show the graph that was traced of the selected module alone", "graph",
         "Ctrl+Shift+G", Scope::Window, Need::Model | Need::OwnGraph},
        {"go.whole", "&Whole Model", "Go", "Go back from a module's own graph to the whole model", "module", "Ctrl+Shift+W",
         Scope::Window, Need::Model | Need::Part},
        {"go.next_problem", "Next P&roblem", "Go-", "Select the next node with an error or a bad value", "warning", "F8",
         Scope::Window, Need::Model},
        {"go.previous_problem", "Pre&vious Problem", "Go", "Select the previous node with an error or a bad value",
         "warning", "Shift+F8", Scope::Window, Need::Model},
        {"go.bookmark", "Boo&kmark", "Go-", "Set or clear a bookmark on the selection", "bookmark", "Ctrl+B",
         Scope::Window, Need::Model | Need::Selection},
        {"go.next_bookmark", "&Next Bookmark", "Go", "Go to the next bookmark", "bookmark", "F2", Scope::Window,
         Need::Model | Need::Bookmarks},
    };
    for (int n = 1; n <= 9; ++n)
        rows.push_back({QStringLiteral("go.bookmark_%1").arg(n), QStringLiteral("Bookmark &%1").arg(n),
                        QStringLiteral("Go/Bookmarks"), QStringLiteral("Go to bookmark %1").arg(n),
                        QStringLiteral("bookmark"), QStringLiteral("Ctrl+%1").arg(n), Scope::Window, Need::Model});
    return rows;
}

std::vector<ActionInfo> runActions() {
    return {
        {"run.start", "&Run", "Run", "Run the model on its inputs, as far as watch and end points need", "run", "F5",
         Scope::Window, Need::Model | Need::Idle},
        {"run.cancel", "&Cancel", "Run", "Stop the run and keep what was computed", "stop", "Shift+Esc Ctrl+.",
         Scope::Window, Need::Running},
        {"run.live", "&Live", "Run", "Run again by itself whenever an input changes", "live", "Ctrl+L", Scope::Window,
         Need::Model, true},
        {"run.step", "&Step", "Run-", "Compute the next node", "step", "F10", Scope::Window, Need::Model},
        {"run.step_back", "Step &Back", "Run", "Show the state one node earlier", "step-back", "Shift+F10", Scope::Window,
         Need::Model},
        {"run.step_in", "Step &Into", "Run", "Go into the module that comes next", "step-in", "F11", Scope::Window,
         Need::Model},
        {"run.step_out", "Step &Out", "Run", "Run to the end of this module", "step-out", "Shift+F11", Scope::Window,
         Need::Model},
        {"run.to_here", "Run &to Here", "Run", "Run until the selected node is computed", "run-to", "Ctrl+F10",
         Scope::Window, Need::Model | Need::Selection},
        {"run.back_to_here", "Bac&k to Here", "Run", "Show the state when the selected node was computed", "step-back",
         "Ctrl+Shift+F10", Scope::Window, Need::Model | Need::Selection},
        {"run.to_start", "Back to St&art", "Run", "Show the state before the first node", "step-back", "Shift+F5",
         Scope::Window, Need::Model},
        {"run.previous_event", "&Previous Node Computed", "Run", "Show the node computed before this one", "back",
         "Ctrl+Left", Scope::Window, Need::Model | Need::Values},
        {"run.next_event", "&Next Node Computed", "Run", "Show the node computed after this one", "forward", "Ctrl+Right",
         Scope::Window, Need::Model | Need::Values},
        {"run.watch", "&Watch Point", "Run-", "Keep the value of the selected node at each run", "watch", "F9",
         Scope::Window, Need::Model | Need::Selection, true},
        {"run.end", "&End Point", "Run", "Stop the run once the selected node is computed", "end", "Shift+F9",
         Scope::Window, Need::Model | Need::Selection, true},
        {"run.clear_watches", "Clear Watc&h Points", "Run", "Clear every watch point", "watch-off", "Ctrl+Shift+F9",
         Scope::Window, Need::Model | Need::Watches},
        {"run.clear_ends", "Clear En&d Points", "Run", "Clear every end point", "remove", "Ctrl+Alt+F9", Scope::Window,
         Need::Model | Need::Ends},
    };
}

std::vector<ActionInfo> valueActions() {
    return {
        {"values.copy", "&Copy Values", "Values", "Copy the numbers that are shown, or those selected, as text", "copy",
         "Ctrl+C", Scope::Values, Need::Value},
        {"values.save", "&Save as .npy…", "Values", "Save the whole value as a NumPy file", "save", "Ctrl+Shift+S",
         Scope::Window, Need::Value},
        {"values.autofit", "&Autofit Range", "Values-", "Fit the range to the smallest and largest value shown", "autofit",
         "Ctrl+Alt+A", Scope::Window, Need::Value},
        {"values.lock", "&Lock Range", "Values", "Keep the range when another value is shown", "lock", "Ctrl+Alt+K",
         Scope::Window, Need::Value, true},
        {"values.log", "Lo&garithmic", "Values", "Map values to colours by their logarithm", "log-scale", "Ctrl+Alt+L",
         Scope::Window, Need::Value, true},
        {"values.diverging", "&Even about Zero", "Values", "Make the range even about zero and colour by sign",
         "diverging", "Ctrl+Alt+Z", Scope::Window, Need::Value, true},
    };
}

std::vector<ActionInfo> helpActions() {
    return {
        {"help.contents", "&Help", "Help", "Show how to work with Sonde; with a node selected, what its operator does", "help", "F1"},
        {"help.operators", "&Operators", "Help", "Show the operators that Sonde knows, with their versions and types", "list",
         "Ctrl+Shift+F1"},
        {"help.shortcuts", "&Keyboard Shortcuts", "Help", "List every key and change it", "list", "Ctrl+F1 Ctrl+/"},
        {"help.about", "&About Sonde", "Help", "Show version, licence and what Sonde is made of", "info", "Shift+F1"},
    };
}

}  // namespace

const std::vector<ActionInfo>& actionTable() {
    static const std::vector<ActionInfo> table = [] {
        std::vector<ActionInfo> rows;
        for (auto part : {fileActions, editActions, viewActions, goActions, runActions, valueActions, helpActions}) {
            std::vector<ActionInfo> some = part();
            rows.insert(rows.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
        }
        return rows;
    }();
    return table;
}

QStringList menuOrder() {
    return {QStringLiteral("File"), QStringLiteral("Edit"), QStringLiteral("View"), QStringLiteral("Go"),
            QStringLiteral("Run"), QStringLiteral("Values"), QStringLiteral("Panels"), QStringLiteral("Help")};
}

}  // namespace sonde::actions
